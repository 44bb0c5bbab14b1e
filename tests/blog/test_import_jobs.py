"""Imports of uploaded zip files: their states and results, the work of clocks, and the purge."""

import os
import signal
import time
from datetime import timedelta
from threading import Event, Thread

import pytest
from django.utils import timezone

from blog.files import jobs
from blog.files.job_worker import ImportWorker
from blog.history import versions
from blog.models import ImportJob, ImportPiece, ImportResult, Post
from contentapi import clock
from contentapi.core.errors import Conflict
from contentapi.core.identity import OPERATOR, Actor
from tests.blog.archives import BAD
from tests.blog.import_work import finish_work, import_completely, list_results, make_files, process_files, upload
from tests.blog.markdown_files import build_file
from tests.factories import make_post
from users.models import User

pytestmark = pytest.mark.django_db
SEVERAL_CLOCKS = pytest.mark.django_db(transaction=True)  # each sees what another one has committed


EXPECTED = [
    ("posts/a.md", "created"),
    ("posts/_index.md", "not a post"),
    ("posts/bad.md", BAD),
    ("_drafts/b.mdx", "created"),
]


def test_uploaded_archive_is_checked_and_changes_nothing(editor: Actor, worker: ImportWorker) -> None:
    job = upload(editor)
    assert (job.state, job.source, job.total, job.ignored) == ("checking", "site", 4, 1)

    finish_work(worker)

    job.refresh_from_db()
    assert (job.state, job.done) == ("checked", 4)
    assert list_results(job, is_plan=True) == EXPECTED
    assert not Post.objects.exists()


def test_started_import_does_what_the_plan_says_and_deletes_the_archive(editor: Actor, worker: ImportWorker) -> None:
    job = import_completely(editor, worker)

    assert (job.state, job.done) == ("done", 4)
    assert list_results(job, is_plan=False) == list_results(job, is_plan=True) == EXPECTED
    assert sorted(Post.objects.values_list("title", "status")) == [("A", "published"), ("B", "draft")]
    assert not ImportPiece.objects.exists()


def test_history_names_the_person_and_the_import(editor: Actor, worker: ImportWorker) -> None:
    import_completely(editor, worker)

    (version,) = versions.list_versions(actor=OPERATOR, post_id=str(Post.objects.get(title="A").pk)).versions

    assert (version.made.person, version.made.origin) == ("Edda Editor", "import")


def test_archive_is_stored_in_pieces_and_read_again(
    editor: Actor, worker: ImportWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "PIECE", 100)
    job = upload(editor)
    assert ImportPiece.objects.filter(job=job).count() > 5

    finish_work(worker)

    assert list_results(job, is_plan=True) == EXPECTED


def test_only_markdown_files_are_stored(editor: Actor, worker: ImportWorker) -> None:
    image = os.urandom(2_500_000)
    files: dict[str, str | bytes] = {
        "a.md": build_file(title="A"),
        "b.png": image,
        "c.md": build_file(title="C"),
        "d.png": image,
    }

    job = upload(editor, files)

    stored = b"".join(job.pieces.order_by("number").values_list("content", flat=True))
    assert job.pieces.count() == 3  # of six: two have a file, and the last one the list of files
    assert image[:100] not in stored
    assert image[-100:] not in stored
    assert stored.count(b"\0") > len(stored) * 0.99
    finish_work(worker)
    assert list_results(job, is_plan=True) == [("a.md", "created"), ("c.md", "created")]


def test_plan_has_the_post_of_each_file_and_its_missing_images(editor: Actor, worker: ImportWorker) -> None:
    lines = 'authors = ["Ines"]\ntags = ["hot", "cold"]'
    later = '+++\ntitle = "B"\nstatus = "scheduled"\npublishAt = 2100-01-01\ndate = 2015-05-15\n+++\n'
    job = upload(
        editor,
        {
            "a.md": build_file(lines, body="![](img/a.png) ![](none.png) ![](https://x.invalid/b.png)", title="A"),
            "b.md": later,
            "img/a.png": "x",
            "bad.md": "# Soup",
        },
    )
    finish_work(worker)

    details = list(job.results.order_by("number").values_list("details", flat=True))

    day = "2015-05-15T00:00:00+00:00"
    plain: dict[str, object] = {"date": day, "publishAt": None, "missingImages": [], "missing": 0}
    assert details == [
        {**plain, "title": "A", "author": "Ines", "tags": ["hot", "cold"], "status": "published"}
        | {"missingImages": ["none.png"], "missing": 1},
        {**plain, "title": "B", "author": "Unknown author", "tags": [], "status": "scheduled"}
        | {"publishAt": "2100-01-01T00:00:00+00:00"},
        None,
    ]
    assert set(job.results.values_list("post_id", flat=True)) == {None}


def test_due_posts_are_published_while_a_file_is_being_parsed(editor: Actor, worker: ImportWorker) -> None:
    job = upload(editor, make_files(2))
    process_files(worker, 1)
    assert worker.run is not None
    child = worker.run.parser.child
    assert child is not None
    os.kill(child.pid, signal.SIGSTOP)  # a file that takes long
    post = make_post(status="scheduled", publish_at=timezone.now() - timedelta(seconds=1))

    assert worker.work(Event(), seconds=0.1)
    clock.do_due_work(Event())

    post.refresh_from_db()
    job.refresh_from_db()
    assert (post.status, job.done) == ("published", 1)
    os.kill(child.pid, signal.SIGCONT)
    finish_work(worker)
    job.refresh_from_db()
    assert (job.state, job.done) == ("checked", 2)


def test_two_imports_of_one_source_do_not_run_at_the_same_time(editor: Actor, worker: ImportWorker) -> None:
    first, second, other = upload(editor), upload(editor), upload(editor, source="other")
    finish_work(worker)
    jobs.start_import(actor=editor, job_id=str(first.pk))

    with pytest.raises(Conflict) as refusal:
        jobs.start_import(actor=editor, job_id=str(second.pk))
    jobs.start_import(actor=editor, job_id=str(other.pk))

    assert refusal.value.message == "Another import of the source site is running. Wait until it has ended."


def test_results_of_a_started_import_are_not_those_of_its_plan(editor: Actor, worker: ImportWorker) -> None:
    job = upload(editor)
    finish_work(worker)
    job.refresh_from_db()
    assert jobs.read_results(job).is_plan

    job = jobs.start_import(actor=editor, job_id=str(job.pk))
    started = jobs.read_results(job)
    job = jobs.cancel_import(actor=editor, job_id=str(job.pk))
    cancelled = jobs.read_results(job)

    assert (started.is_plan, started.results) == (False, [])
    assert (cancelled.is_plan, len(cancelled.results)) == (True, 4)


@SEVERAL_CLOCKS
def test_clock_works_on_imports_beside_due_posts(editor: Actor) -> None:
    job, stop = upload(editor), Event()
    thread = Thread(target=clock.run_clock, args=[stop])
    thread.start()
    try:
        deadline = time.monotonic() + 60
        while ImportJob.objects.get(pk=job.pk).state == "checking" and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        stop.set()
        thread.join(60)

    assert ImportJob.objects.get(pk=job.pk).state == "checked"


def test_deleted_user_deletes_the_imports(editor: Actor, worker: ImportWorker) -> None:
    upload(editor)
    process_files(worker, 1)
    User.objects.get(pk=editor.user_id or 0).delete()

    finish_work(worker)

    assert not ImportJob.objects.exists()
    assert not ImportPiece.objects.exists()


def test_silence_of_all_clocks_is_noticed_after_some_seconds(editor: Actor, worker: ImportWorker) -> None:
    job, other = upload(editor), upload(editor, source="other")
    assert not jobs.is_waiting_for_clock(job)

    ImportJob.objects.update(updated_at=timezone.now() - timedelta(seconds=60))
    assert jobs.is_waiting_for_clock(job)

    ImportJob.objects.filter(pk=other.pk).update(updated_at=timezone.now())  # a clock works on the other one
    assert not jobs.is_waiting_for_clock(job)
    finish_work(worker)
    job.refresh_from_db()
    assert not jobs.is_waiting_for_clock(job)


def test_clock_deletes_imports_after_30_days_but_no_running_one(editor: Actor, worker: ImportWorker) -> None:
    old, recent = import_completely(editor, worker), import_completely(editor, worker)
    running = upload(editor)
    past = timezone.now() - timedelta(days=31)
    ImportJob.objects.filter(pk__in=[old.pk, running.pk]).update(created_at=past)

    clock.do_due_work(Event())

    assert set(ImportJob.objects.values_list("pk", flat=True)) == {recent.pk, running.pk}
    assert not ImportResult.objects.filter(job_id=old.pk).exists()
    assert Post.objects.count() == 2


def test_results_are_read_in_pages_and_by_outcome(editor: Actor, worker: ImportWorker) -> None:
    job = import_completely(editor, worker)

    first = jobs.read_results(job, size=3)
    last = jobs.read_results(job, size=3, number=99)
    created = jobs.read_results(job, outcome="created")

    assert [result.path for result in first.results] == ["posts/a.md", "posts/_index.md", "posts/bad.md"]
    assert ([result.path for result in last.results], last.number, last.last) == (["_drafts/b.mdx"], 2, 2)
    assert first.counts == {"created": 2, "updated": 0, "unchanged": 0, "not a post": 1, "refused": 1, "undone": 0}
    assert created.posts == {post.source.path: post.pk for post in Post.objects.all()}
