"""Imports in the admin: upload, what would happen, progress and report; start, cancel and undo, and who may do it."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from blog.desk import imports
from blog.desk.imports import NO_WORKER
from blog.files import jobs
from blog.models import ImportJob, ImportResult, ImportState, Post, PostSource
from contentapi.core.identity import WORKER, Role
from tests.admin_forms import log_in
from tests.blog.archives import BAD, build_archive
from tests.blog.import_pages import LIST, get_url, list_rows, send_archive, upload_and_check
from tests.blog.import_work import finish_work
from tests.blog.markdown_files import build_file
from tests.factories import make_post, make_user


def make_job(client: Client, state: str = "checking", **values: Any) -> ImportJob:
    """Return an import of the person who is logged in, without its zip file."""
    owner, defaults = int(client.session["_auth_user_id"]), {"source": "harbour", "total": 4, "ignored": 0}
    return ImportJob.objects.create(owner_id=owner, file_name="a.zip", state=state, **{**defaults, **values})


def make_result(job: ImportJob, path: str, outcome: str, post: Post | None = None, **values: Any) -> ImportResult:
    """Return the result of a file, which has created or changed a post."""
    if post is not None:
        PostSource.objects.create(post=post, source=job.source, path=path, digest=b"1", authors=[])
    defaults = {"is_plan": False, "number": job.results.count() + 1, "post_id": post and post.pk}
    return ImportResult.objects.create(job=job, path=path, outcome=outcome, **{**defaults, **values})


def test_upload_shows_what_would_happen_to_each_file_and_a_cancelled_plan_changes_nothing(
    editor_client: Client,
) -> None:
    job = upload_and_check(editor_client)

    page = editor_client.get(get_url("change", job))

    assert list_rows(page) == [
        ("posts/a.md", "new post", ""),
        ("_drafts/b.mdx", "new post", ""),
        ("posts/_index.md", "not a post", ""),
        ("posts/bad.md", "refused", BAD),
    ]
    assert page.context["counts"] == [
        ("created", "new post", 2),
        ("not a post", "not a post", 1),
        ("refused", "refused", 1),
    ]
    assert "Nothing has changed yet." in page.text
    assert "neither Markdown nor images, left out: 1" in page.text
    assert get_url("start", job) in page.text
    assert get_url("cancel", job) in page.text
    assert "come from the" not in page.text
    editor_client.post(get_url("cancel", job))
    cancelled = editor_client.get(get_url("change", job)).text
    assert "The import was cancelled" in cancelled
    assert get_url("start", job) not in cancelled
    assert not Post.objects.exists()


def test_started_import_reports_what_happened_and_the_next_plan_warns_about_its_posts(editor_client: Client) -> None:
    job = upload_and_check(editor_client)
    editor_client.post(get_url("start", job))
    finish_work()

    page = editor_client.get(get_url("change", job))
    same = editor_client.get(get_url("change", upload_and_check(editor_client)))
    other = editor_client.get(get_url("change", make_job(editor_client, "checked", source="kitchen")))

    assert "The import is finished" in page.text
    assert page.context["counts"] == [
        ("created", "created", 2),
        ("not a post", "not a post", 1),
        ("refused", "refused", 1),
    ]
    for post in Post.objects.all():
        assert reverse("admin:blog_post_change", args=[post.pk]) in page.text
    assert Post.objects.count() == 2
    assert get_url("cancel", job) not in page.text
    assert "2 posts come from the\n      source harbour already." in same.text
    assert list_rows(same)[0] == ("posts/a.md", "unchanged", "")
    assert "already." not in other.text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"# Soup", "This is not a zip file, or it is damaged. Create it again."),
        (build_archive({"a.png": b"x"}).getvalue(), "The zip file has no Markdown files (.md, .markdown, .mdx)."),
    ],
)
def test_unusable_archive_is_an_error_of_the_form(editor_client: Client, content: bytes, message: str) -> None:
    response = send_archive(editor_client, content)

    assert response.context["form"].errors == {"archive": [message]}
    assert message in response.text
    assert not ImportJob.objects.exists()


def test_progress_is_json_for_the_script_and_the_page_reloads_without_it(editor_client: Client) -> None:
    job = make_job(editor_client, done=1)

    progress = editor_client.get(get_url("progress", job))
    page = editor_client.get(get_url("change", job))

    assert progress.json() == {"state": "checking", "done": 1, "total": 4, "text": "1 of 4 files checked", "note": ""}
    assert "no-store" in progress["Cache-Control"]
    assert '<noscript><meta http-equiv="refresh" content="3"></noscript>' in page.text
    assert '<a href="">Reload</a>' in page.text
    assert '<progress class="import-progress" value="1" max="4"' in page.text


def test_page_says_when_no_worker_is_running_and_why_an_import_failed(editor_client: Client) -> None:
    job = make_job(editor_client, updated_at=timezone.now() - timedelta(seconds=60))

    assert editor_client.get(get_url("progress", job)).json()["note"] == NO_WORKER
    assert NO_WORKER in editor_client.get(get_url("change", job)).text
    jobs.end_import(job, ImportState.FAILED, WORKER, "The disk is <full>.")
    assert "The disk is &lt;full&gt;." in editor_client.get(get_url("change", job)).text


def test_long_report_has_pages_and_filters(editor_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "FILES", 2)
    job = make_job(editor_client, "done")
    make_result(job, "<script>x.md", "refused")
    for name in ("b.md", "c.md"):
        make_result(job, name, "created")

    first = editor_client.get(get_url("change", job))
    second = editor_client.get(get_url("change", job), {"page": "2", "outcome": "x"})
    refused = editor_client.get(get_url("change", job), {"outcome": "refused", "page": "-1"})

    assert len(list_rows(first)) == 2
    assert "Page 1 of 2" in first.text
    assert "<script>x" not in first.text
    assert [path for path, *_ in list_rows(second)] == ["c.md"]
    assert [path for path, *_ in list_rows(refused)] == ["<script>x.md"]


def test_plan_shows_the_post_of_each_file(editor_client: Client) -> None:
    lines = 'authors = ["Ines <Falk>"]\ntags = ["hot", "cold"]'
    later = "---\ntitle: Later\nstatus: scheduled\npublishAt: 2100-01-01\ndate: 2015-05-15\n---\n"
    images = " ".join(f"![](img/{number}.png)" for number in range(12))
    files = {"a.md": build_file(lines, body=f"![](x.png) {images}", title="A <b>"), "x.png": "x", "b.md": later}
    send_archive(editor_client, build_archive(dict(files)).getvalue(), source="<i>s</i>")
    finish_work()

    text = " ".join(editor_client.get(get_url("change", ImportJob.objects.get())).text.split())

    assert "<i>s" not in text
    for part in (
        "A &lt;b&gt;",
        "Ines &lt;Falk&gt;",
        "<td>hot, cold</td>",
        "<td>Published</td>",
        '<time datetime="2015-05-15T00:00:00+00:00" data-local>',
        'Scheduled for <time datetime="2100-01-01T00:00:00+00:00" data-local>',
        "The image x.png is not imported: The file must be one of image/jpeg",
        "The image img/0.png is not imported: no file has this path.",
        "and 3 more notes",
    ):
        assert part in text


def test_admin_sees_all_imports_and_an_editor_only_their_own(editor_client: Client) -> None:
    job = make_job(editor_client, "checked")
    other, admin = (log_in(make_user(role)) for role in (Role.EDITOR, Role.ADMIN))

    assert [row.pk for row in admin.get(LIST).context["cl"].result_list] == [job.pk]
    assert list(other.get(LIST).context["cl"].result_list) == []
    for name in ("change", "progress"):
        assert admin.get(get_url(name, job)).status_code == 200
        assert other.get(get_url(name, job)).status_code == 404
    assert other.get(get_url("undo", job)).status_code == 404
    for name in ("start", "cancel", "undo"):
        assert other.post(get_url(name, job)).status_code == 404
    assert ImportJob.objects.get().state == "checked"
    assert admin.post(get_url("cancel", job)).status_code == 302
    assert ImportJob.objects.get().state == "cancelled"


def test_import_is_undone_after_a_confirmation(editor_client: Client) -> None:
    job = make_job(editor_client, "done")
    make_result(job, "a.md", "created", make_post())
    make_result(job, "b.md", "refused")
    assert get_url("undo", job) in editor_client.get(get_url("change", job)).text

    confirmation = editor_client.get(get_url("undo", job)).text
    assert "Delete 1 post" in confirmation
    assert Post.objects.count() == 1
    editor_client.post(get_url("undo", job))
    running = editor_client.get(get_url("change", job)).text
    progress = editor_client.get(get_url("progress", job)).json()
    finish_work()
    page = editor_client.get(get_url("change", job))

    assert "The posts of the import are being deleted" in running
    assert get_url("cancel", job) not in running
    assert (progress["state"], progress["text"]) == ("undoing", "0 of 1 posts processed")
    assert "The import is undone" in page.text
    assert [label for _, label, _ in list_rows(page)] == ["deleted again", "refused"]
    assert get_url("undo", job) not in page.text
    assert not Post.objects.exists()


def test_pages_of_an_undone_import_name_what_is_left_alone(editor_client: Client) -> None:
    job = make_job(editor_client, "done")
    make_result(job, "a.md", "unchanged", make_post())
    make_result(job, "b.md", "created", make_post())
    make_result(job, "c.md", "created", gone := make_post())
    gone.delete()

    confirmation = editor_client.get(get_url("undo", job)).text
    editor_client.post(get_url("undo", job))
    finish_work()
    rows = list_rows(editor_client.get(get_url("change", job)))

    assert "existed before the import: 1" in confirmation
    assert "deleted already: 1" in confirmation
    assert ("c.md", "created", "The post does not exist any more.") in rows
    assert ("a.md", "unchanged", "") in rows


def test_failed_undo_shows_the_problem_and_can_be_repeated(editor_client: Client) -> None:
    job = make_job(editor_client, "undoing", undone_by=1)
    make_result(job, "a.md", "created", make_post())
    jobs.end_import(job, ImportState.FAILED, WORKER, "The disk is full.")

    text = editor_client.get(get_url("change", job)).text

    assert "Undoing the import failed" in text
    assert "The disk is full." in text
    assert get_url("undo", job) in text
