"""Imports of uploaded zip files that stop: cancelled, killed and failing ones, and several workers."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from datetime import timedelta
from threading import Event

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.utils import timezone

from blog.files import archives, importing, job_worker, jobs
from blog.files.front_matter import MarkdownPost
from blog.files.reading import LimitedParser
from blog.models import ImportJob, ImportPiece, ImportResult, Post, PostSource
from contentapi.conf.timeouts import CLAIM
from contentapi.core.errors import Conflict
from contentapi.core.identity import Actor
from tests.blog.import_work import finish_work, list_results, make_files, process_files, upload
from tests.concurrency import run_in_threads

SEVERAL_WORKERS = pytest.mark.django_db(transaction=True)  # each sees what another one has committed


def test_cancelled_import_stops_and_keeps_the_posts_that_it_wrote(editor: Actor) -> None:
    job = upload(editor, make_files(3))
    finish_work()
    jobs.start_import(actor=editor, job_id=str(job.pk))
    process_files(1)

    jobs.cancel_import(actor=editor, job_id=str(job.pk))
    finish_work()

    job.refresh_from_db()
    assert (job.state, job.done, Post.objects.count()) == ("cancelled", 1, 1)
    assert not ImportPiece.objects.exists()
    with pytest.raises(Conflict, match="It cannot be cancelled any more"):
        jobs.cancel_import(actor=editor, job_id=str(job.pk))


def test_work_stops_while_a_file_is_being_parsed(editor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    job, stop, begin = upload(editor, make_files(2)), Event(), LimitedParser.begin

    def begin_and_take_long(parser: LimitedParser, content: bytes) -> None:
        begin(parser, content)
        if ImportResult.objects.exists():
            assert parser.child is not None
            os.kill(parser.child.pid, signal.SIGSTOP)
            stop.set()

    with monkeypatch.context() as patched:
        patched.setattr(LimitedParser, "begin", begin_and_take_long)
        job_worker.work_on_imports(stop)

    job.refresh_from_db()
    assert (job.state, job.done) == ("checking", 1)
    finish_work()
    job.refresh_from_db()
    assert (job.state, job.done) == ("checked", 2)


KILLED_WORKER = """
    import os, signal
    import django
    django.setup()
    from threading import Event
    from blog.files import importing
    from blog.files.job_worker import work_on_imports
    save, calls = importing.save_imported_post, []

    def save_and_die(*arguments, **options):
        if len(calls) == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        calls.append(arguments)
        return save(*arguments, **options)

    importing.save_imported_post = save_and_die
    work_on_imports(Event())
"""


def run_worker_that_is_killed() -> int:
    """Run the work in a process of its own, which is killed in the transaction of the fifth file."""
    database = connection.settings_dict
    code = f"""
    import os
    os.environ["DJANGO_SETTINGS_MODULE"] = "contentapi.settings"
    from django.conf import settings
    settings.DATABASES["default"]["NAME"] = {database["NAME"]!r}
    """
    command = [sys.executable, "-c", textwrap.dedent(code) + textwrap.dedent(KILLED_WORKER)]
    return subprocess.run(command, cwd=settings.BASE_DIR, env=os.environ, check=False, timeout=120).returncode


@pytest.mark.servers
@SEVERAL_WORKERS
def test_import_of_a_killed_worker_is_continued_by_another_one(editor: Actor) -> None:
    job = upload(editor, make_files(9))
    finish_work()
    jobs.start_import(actor=editor, job_id=str(job.pk))

    assert run_worker_that_is_killed() == -signal.SIGKILL
    job.refresh_from_db()
    assert (job.state, job.done, Post.objects.count()) == ("importing", 4, 4)
    finish_work()
    job.refresh_from_db()
    assert (job.state, job.done, job.run) == ("importing", 4, 2)  # the claim of the killed worker has not ended

    assert job.claimed_until is not None
    assert timedelta() < job.claimed_until - timezone.now() <= CLAIM
    ImportJob.objects.update(claimed_until=timezone.now())
    finish_work()

    job.refresh_from_db()
    assert (job.state, job.done, job.run) == ("done", 9, 3)
    assert list_results(job, is_plan=False) == [(name, "created") for name in sorted(make_files(9))]
    assert set(Post.objects.values_list("version", flat=True)) == {1}


@pytest.mark.thorough
@SEVERAL_WORKERS
def test_two_workers_import_each_file_once(editor: Actor) -> None:
    uploaded = [upload(editor, make_files(3), source=name) for name in ("one", "two", "three")]
    finish_work()
    for job in uploaded:
        jobs.start_import(actor=editor, job_id=str(job.pk))

    run_in_threads(finish_work, 3)
    finish_work()

    assert set(ImportJob.objects.values_list("state", "done")) == {("done", 3)}
    assert Post.objects.count() == PostSource.objects.count() == 9
    assert ImportResult.objects.filter(is_plan=False, outcome="created").count() == 9
    assert set(Post.objects.values_list("version", flat=True)) == {1}


def test_one_worker_at_a_time_works_on_a_source(editor: Actor) -> None:
    for source in ("one", "one", "two"):
        upload(editor, make_files(1), source=source)

    claimed = [job_worker.claim_import() for _ in range(3)]
    assert [job and job.source for job in claimed] == ["one", "two", None]

    ImportJob.objects.filter(source="one").update(claimed_until=timezone.now())
    again = job_worker.claim_import()
    assert claimed[0] is not None
    assert again is not None
    assert (again.pk, again.run, again.attempts) == (claimed[0].pk, 2, 2)


def test_worker_that_stops_leaves_the_import_to_others(editor: Actor) -> None:
    job = upload(editor, make_files(2))
    process_files(1)

    job.refresh_from_db()
    assert (job.done, job.claimed_until) == (1, None)


def test_worker_whose_import_another_worker_has_continued_stops(editor: Actor) -> None:
    job = upload(editor, make_files(3))
    taken = job_worker.claim_import()
    assert taken is not None
    ImportJob.objects.filter(pk=job.pk).update(run=7)

    job_worker.work_on_import(taken, Event())

    job.refresh_from_db()
    assert (job.done, job.run, job.state) == (0, 7, "checking")


def test_import_that_makes_no_progress_fails_and_names_the_file(editor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    job = upload(editor, make_files(3))
    process_files(1)

    def fail(*_: object) -> None:
        raise OperationalError("the connection is lost")

    with monkeypatch.context() as patched:
        patched.setattr(importing, "apply_content", fail_at("Post 1", fail))
        for _ in range(job_worker.MAX_ATTEMPTS):
            with pytest.raises(OperationalError):
                finish_work()
        finish_work()

    job.refresh_from_db()
    assert job.state == "failed"
    assert job.problem.startswith("The import stopped several times at the same file, which is number 2 of 3.")


def fail_at(title: str, fail: Callable[..., None]) -> Callable[..., None]:
    """Return the function that applies the content of a file, but calls `fail` for one title."""
    apply_content = importing.apply_content

    def apply_or_fail(post: Post, parsed: MarkdownPost) -> None:
        if parsed.content["title"] == title:
            fail()
        apply_content(post, parsed)

    return apply_or_fail


def test_unexpected_error_fails_the_import_and_is_logged(
    editor: Actor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    job = upload(editor)

    def fail(*_: object) -> None:
        raise RuntimeError("unexpected")

    with monkeypatch.context() as patched:
        patched.setattr(archives, "open_archive", fail)
        finish_work()

    job.refresh_from_db()
    assert (job.state, job.problem) == ("failed", job_worker.UNEXPECTED)
    assert [each.message for each in caplog.records if each.name == "contentapi.worker"] == [f"Import {job.pk} failed."]
