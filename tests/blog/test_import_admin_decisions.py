"""Decisions about an import in the admin: start, cancel and undo, and who may make them."""

from django.test import Client

from blog.files import jobs
from blog.models import ImportJob, ImportState, Post
from contentapi.core.identity import WORKER, Role
from tests.admin_forms import log_in
from tests.blog.archives import SITE, build_archive
from tests.blog.import_pages import LIST, get_url, list_rows, send_archive, upload_and_check
from tests.blog.import_work import finish_work
from tests.blog.markdown_files import build_file
from tests.factories import make_user


def test_cancelled_plan_changes_nothing(editor_client: Client) -> None:
    job = upload_and_check(editor_client)

    editor_client.post(get_url("cancel", job))
    page = editor_client.get(get_url("change", job))

    assert "The import was cancelled" in page.text
    assert get_url("start", job) not in page.text
    assert not Post.objects.exists()


def make_client(role: Role) -> Client:
    return log_in(make_user(role))


def test_admin_sees_all_imports_and_an_editor_only_their_own(editor_client: Client) -> None:
    job = upload_and_check(editor_client)
    other, admin = make_client(Role.EDITOR), make_client(Role.ADMIN)

    assert [row.pk for row in admin.get(LIST).context["cl"].result_list] == [job.pk]
    assert list(other.get(LIST).context["cl"].result_list) == []
    for name in ("change", "progress"):
        assert admin.get(get_url(name, job)).status_code == 200
        assert other.get(get_url(name, job)).status_code == 404
    for name in ("start", "cancel", "undo"):
        assert other.post(get_url(name, job)).status_code == 404
    assert ImportJob.objects.get().state == "checked"
    assert admin.post(get_url("cancel", job)).status_code == 302
    assert ImportJob.objects.get().state == "cancelled"


def import_and_open(client: Client) -> ImportJob:
    job = upload_and_check(client)
    client.post(get_url("start", job))
    finish_work()
    return job


def test_import_is_undone_after_a_confirmation(editor_client: Client) -> None:
    job = import_and_open(editor_client)
    assert get_url("undo", job) in editor_client.get(get_url("change", job)).text

    confirmation = editor_client.get(get_url("undo", job)).text
    assert "Delete 2 posts" in confirmation
    assert Post.objects.count() == 2
    editor_client.post(get_url("undo", job))
    running = editor_client.get(get_url("change", job)).text
    progress = editor_client.get(get_url("progress", job)).json()
    finish_work()
    page = editor_client.get(get_url("change", job))

    assert "The posts of the import are being deleted" in running
    assert get_url("cancel", job) not in running
    assert (progress["state"], progress["text"]) == ("undoing", "0 of 2 posts processed")
    assert "The import is undone" in page.text
    assert [label for _, label, _ in list_rows(page)] == ["deleted again", "deleted again", "not a post", "refused"]
    assert get_url("undo", job) not in page.text
    assert not Post.objects.exists()


def test_page_of_an_undone_import_names_what_was_left_alone(editor_client: Client) -> None:
    import_and_open(editor_client)
    send_archive(editor_client, build_archive({**SITE, "c.md": build_file(title="C")}).getvalue())
    job = ImportJob.objects.latest("pk")
    finish_work()
    editor_client.post(get_url("start", job))
    finish_work()
    Post.objects.get(title="C").delete()

    confirmation = editor_client.get(get_url("undo", job)).text
    editor_client.post(get_url("undo", job))
    finish_work()
    rows = list_rows(editor_client.get(get_url("change", job)))

    assert "existed before the import: 2" in confirmation
    assert "deleted already: 1" in confirmation
    assert ("c.md", "created", "The post does not exist any more.") in rows
    assert ("posts/a.md", "unchanged", "") in rows


def test_failed_undo_shows_the_problem_and_can_be_repeated(editor_client: Client) -> None:
    job = import_and_open(editor_client)
    editor_client.post(get_url("undo", job))
    jobs.end_import(ImportJob.objects.get(), ImportState.FAILED, WORKER, "The disk is full.")

    text = editor_client.get(get_url("change", job)).text

    assert "Undoing the import failed" in text
    assert "The disk is full." in text
    assert get_url("undo", job) in text
