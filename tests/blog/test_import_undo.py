"""Undoing an import: which posts are deleted and which are left alone, who may do it, and what a stop does."""

import pytest

from blog import services
from blog.desk.posts.trash import restore_post
from blog.files import jobs
from blog.files.job_worker import MAX_ATTEMPTS
from blog.files.jobs import GONE, UndoPlan
from blog.history import trash
from blog.models import ImportJob, ImportResult, Post, PostSource, PostVersion
from contentapi.core.errors import Conflict, Forbidden, NotFound
from contentapi.core.identity import Actor, Role
from tests.blog.import_work import (
    finish_work,
    import_completely,
    make_files,
    make_finished_import,
    process_files,
    upload,
)  # fmt: skip
from tests.blog.markdown_files import build_file
from tests.factories import make_actor, make_comment
from users.models import User


def undo(actor: Actor, job: ImportJob) -> ImportJob:
    jobs.start_undo(actor=actor, job_id=str(job.pk))
    finish_work()
    job.refresh_from_db()
    return job


def list_results(job: ImportJob) -> list[tuple[str, str, str]]:
    results = job.results.filter(is_plan=False).order_by("number")
    return list(results.values_list("path", "outcome", "reason"))


def get_post(path: str) -> Post:
    return PostSource.objects.get(path=path).post


def test_posts_that_the_import_created_are_deleted_and_can_be_restored(editor: Actor) -> None:
    job = make_finished_import(editor, 2)
    post = get_post("0000.md")
    make_comment(post)

    undo(editor, job)

    assert (job.state, job.undone_by) == ("undone", editor.user_id)
    assert list_results(job) == [("0000.md", "undone", ""), ("0001.md", "undone", "")]
    deleted = trash.list_deleted_posts(actor=editor)[0]
    assert [(each["title"], each["comments"]) for each in deleted] == [("Post 1", 0), ("Post 0", 1)]
    assert {(each["deletion"].person, each["deletion"].origin) for each in deleted} == {("Edda Editor", "import")}
    trash.restore_deleted_post(actor=editor, post_id=str(post.pk))
    assert get_post("0000.md").comments.count() == 1


def test_files_get_the_same_addresses_when_they_are_imported_again_from_another_source(editor: Actor) -> None:
    undone = undo(editor, import_completely(editor, make_files(1), source="wrong"))

    import_completely(editor, make_files(1), source="right")

    assert set(Post.objects.values_list("slug", flat=True)) == {"0000"}
    trash.restore_deleted_post(actor=editor, post_id=str(undone.results.filter(is_plan=False)[0].post_id))
    assert Post.objects.filter(slug__endswith="-2").count() == 1


def test_posts_that_existed_before_are_left_alone(editor: Actor) -> None:
    first = {"a.md": build_file(title="A"), "b.md": build_file(title="B")}
    import_completely(editor, dict(first))
    job = import_completely(editor, {**first, "a.md": build_file(title="New A"), "c.md": build_file(title="C")})

    assert jobs.plan_undo(job) == UndoPlan(deleted=1, changed=0, gone=0, existing=2)
    undo(editor, job)

    assert list_results(job) == [("a.md", "updated", ""), ("b.md", "unchanged", ""), ("c.md", "undone", "")]
    assert sorted(Post.objects.values_list("title", flat=True)) == ["B", "New A"]


def test_changed_post_is_deleted_with_its_changes_and_a_deleted_one_is_named(editor: Actor) -> None:
    job = make_finished_import(editor, 2)
    changed, gone = get_post("0000.md"), get_post("0001.md")
    services.edit_post(actor=editor, post_id=str(changed.pk), changes={"title": "Better"})
    services.delete_post(actor=editor, post_id=str(gone.pk))

    assert jobs.plan_undo(job) == UndoPlan(deleted=1, changed=1, gone=1, existing=0)
    undo(editor, job)

    assert list_results(job) == [("0000.md", "undone", ""), ("0001.md", "created", GONE)]
    assert trash.restore_deleted_post(actor=editor, post_id=str(changed.pk)).title == "Better"
    assert jobs.count_outcomes(job, is_plan=False)["undone"] == 1


def test_import_that_has_not_ended_or_created_nothing_cannot_be_undone(editor: Actor) -> None:
    job = upload(editor, make_files(1))
    with pytest.raises(Conflict, match=r"^This import is checking\. Only an import that has ended can be undone\.$"):
        jobs.start_undo(actor=editor, job_id=str(job.pk))
    jobs.cancel_import(actor=editor, job_id=str(job.pk))
    nothing = "^This import has no posts that could be deleted"
    with pytest.raises(Conflict, match=nothing):
        jobs.start_undo(actor=editor, job_id=str(job.pk))
    done = undo(editor, make_finished_import(editor, 1))

    with pytest.raises(Conflict, match=nothing):
        jobs.start_undo(actor=editor, job_id=str(done.pk))


def test_person_who_has_lost_the_role_undoes_nothing(editor: Actor) -> None:
    job = make_finished_import(editor, 1)
    jobs.start_undo(actor=editor, job_id=str(job.pk))
    User.objects.filter(pk=editor.user_id or 0).update(role=Role.AUTHOR)
    with pytest.raises((Forbidden, NotFound)):
        jobs.start_undo(actor=make_actor(Role.AUTHOR), job_id=str(job.pk))

    finish_work()

    job.refresh_from_db()
    assert (job.state, job.problem, Post.objects.count()) == ("failed", "You may not import posts.", 1)
    User.objects.filter(pk=editor.user_id or 0).update(role=Role.EDITOR)
    assert undo(editor, job).state == "undone"


def test_stopped_work_is_continued_where_it_was(editor: Actor) -> None:
    job = make_finished_import(editor, 3)
    jobs.start_undo(actor=editor, job_id=str(job.pk))
    process_files(2)
    assert jobs.count_undone(job) == (2, 3)
    assert Post.objects.count() == 1

    finish_work()

    job.refresh_from_db()
    assert (job.state, Post.objects.count()) == ("undone", 0)


def test_work_without_progress_fails(editor: Actor) -> None:
    job = make_finished_import(editor, 1)
    jobs.start_undo(actor=editor, job_id=str(job.pk))
    ImportJob.objects.filter(pk=job.pk).update(attempts=MAX_ATTEMPTS)

    finish_work()

    job.refresh_from_db()
    assert (job.state, job.problem[:47]) == ("failed", "The work stopped several times at the same post")


def test_post_that_is_restored_while_the_undo_runs_can_be_undone_again(
    editor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = make_finished_import(editor, 2)
    first, undo_result = get_post("0000.md"), jobs.undo_result

    def undo_and_restore(actor: Actor, result: ImportResult) -> None:
        undo_result(actor, result)
        if result.path == "0001.md":
            restore_post(editor, PostVersion.objects.get(id=first.pk, pgh_label="delete"), {})

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "undo_result", undo_and_restore)
        undo(editor, job)
    assert list_results(job) == [("0000.md", "created", ""), ("0001.md", "undone", "")]
    assert list(Post.objects.all()) == [first]

    assert undo(editor, job).state == "undone"

    assert not Post.objects.exists()
