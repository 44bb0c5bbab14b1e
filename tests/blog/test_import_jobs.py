"""Imports of uploaded zip files: their states and results, the work of workers, and the purge."""

from datetime import timedelta

import pytest
from django.utils import timezone

from blog.files import importing, job_worker, jobs
from blog.models import ImportJob, ImportPiece, ImportResult, Post
from contentapi.core.errors import Conflict
from contentapi.core.identity import WORKER, Actor
from tests.blog.archives import BAD, SITE
from tests.blog.import_work import (
    finish_work,
    import_completely,
    list_results,
    make_finished_import,
    process_files,
    upload,
)
from tests.factories import make_post
from users.models import User

EXPECTED = [
    ("posts/a.md", "created"),
    ("_drafts/b.mdx", "created"),
    ("posts/_index.md", "not a post"),
    ("posts/bad.md", BAD),
]


def test_started_import_does_what_the_plan_says_and_deletes_the_archive(editor: Actor) -> None:
    job = import_completely(editor, SITE)

    assert (job.state, job.done) == ("done", 4)
    assert list_results(job, is_plan=False) == list_results(job, is_plan=True) == EXPECTED
    assert sorted(Post.objects.values_list("title", "status")) == [("A", "published"), ("B", "draft")]
    assert not ImportPiece.objects.exists()


def test_older_post_gets_a_slug_that_two_files_want_and_the_plan_says_so(editor: Actor) -> None:
    make_post(slug="tides")
    files: dict[str, str | bytes] = {
        "a/tides.md": "---\ntitle: A\ndate: 2022-01-01\n---\n",
        "b/soup.md": "---\ntitle: B\n---\n",
        "c/soup.md": "---\ntitle: C\ndate: 2021-01-01\n---\n",
        "d/soup.md": "---\ntitle: D\ndate: 2020-01-01\n---\n",
    }

    job = import_completely(editor, files)

    slugs = {"d/soup.md": ("soup", ""), "c/soup.md": ("soup-2", "soup"), "a/tides.md": ("tides-2", "tides")}
    for is_plan in (True, False):
        results = job.results.filter(is_plan=is_plan).order_by("number").values_list("path", "details")
        found = {path: ((details or {})["slug"], (details or {})["takenSlug"]) for path, details in results}
        assert list(found.items()) == [*slugs.items(), ("b/soup.md", ("soup-3", "soup"))]


def test_stopped_import_continues_without_a_second_result_of_a_file(editor: Actor) -> None:
    days = {"a": "2022-01-01", "b": "2020-01-01", "c": "2021-01-01"}
    job = upload(editor, {f"{name}.md": f"---\ntitle: {name}\ndate: {day}\n---\n" for name, day in days.items()})

    process_files(1)
    process_files(1)
    finish_work()

    assert list_results(job, is_plan=True) == [("b.md", "created"), ("c.md", "created"), ("a.md", "created")]


def test_two_imports_of_one_source_do_not_run_at_the_same_time(editor: Actor) -> None:
    first, second, other = upload(editor), upload(editor), upload(editor, source="other")
    finish_work()
    jobs.start_import(actor=editor, job_id=str(first.pk))

    with pytest.raises(Conflict) as refusal:
        jobs.start_import(actor=editor, job_id=str(second.pk))
    jobs.start_import(actor=editor, job_id=str(other.pk))

    assert refusal.value.message == "Another import of the source site is running. Wait until it has ended."


def test_results_of_a_started_import_are_not_those_of_its_plan(editor: Actor) -> None:
    job = upload(editor)
    finish_work()
    job.refresh_from_db()
    assert jobs.has_only_plan(job)

    job = jobs.start_import(actor=editor, job_id=str(job.pk))
    assert (jobs.has_only_plan(job), jobs.count_outcomes(job, is_plan=False)) == (False, {})
    job = jobs.cancel_import(actor=editor, job_id=str(job.pk))
    assert jobs.has_only_plan(job)


def test_deleted_user_deletes_the_imports(editor: Actor) -> None:
    upload(editor, SITE)
    process_files(1)
    User.objects.get(pk=editor.user_id or 0).delete()

    finish_work()

    assert not ImportJob.objects.exists()
    assert not ImportPiece.objects.exists()


def test_silence_of_all_workers_is_noticed_after_some_seconds(editor: Actor) -> None:
    job, other = upload(editor), upload(editor, source="other")
    assert not jobs.is_waiting_for_worker(job)

    ImportJob.objects.update(updated_at=timezone.now() - timedelta(seconds=60))
    assert jobs.is_waiting_for_worker(job)

    ImportJob.objects.filter(pk=other.pk).update(updated_at=timezone.now())  # a worker works on the other one
    assert not jobs.is_waiting_for_worker(job)
    finish_work()
    job.refresh_from_db()
    assert not jobs.is_waiting_for_worker(job)


def stop(**_: object) -> None:
    raise job_worker.Stopped


def test_worker_that_reads_the_files_for_the_first_time_is_not_silent(
    editor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = upload(editor)
    ImportJob.objects.update(updated_at=timezone.now() - timedelta(seconds=60))
    monkeypatch.setattr(importing, "import_read_file", stop)

    finish_work()

    job.refresh_from_db()
    assert (job.done, jobs.is_waiting_for_worker(job)) == (0, False)


def test_worker_deletes_imports_after_30_days_but_no_running_one(editor: Actor) -> None:
    old, recent = make_finished_import(editor, 1), make_finished_import(editor, 0)
    running = upload(editor)
    past = timezone.now() - timedelta(days=31)
    ImportJob.objects.filter(pk__in=[old.pk, running.pk]).update(created_at=past)

    jobs.purge_imports(actor=WORKER)

    assert set(ImportJob.objects.values_list("pk", flat=True)) == {recent.pk, running.pk}
    assert not ImportResult.objects.filter(job_id=old.pk).exists()
    assert Post.objects.count() == 1
