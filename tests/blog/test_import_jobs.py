"""Imports of uploaded zip files: their states, the work of clocks, cancelling, permissions, and the purge."""

import io
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from threading import Event, Thread

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.utils import timezone

from blog.files import importing, job_worker, jobs
from blog.files.front_matter import MarkdownPost
from blog.files.job_worker import ImportWorker, find_work
from blog.history import versions
from blog.models import ImportJob, ImportPiece, ImportResult, Post, PostSource
from contentapi import clock
from contentapi.core.errors import Conflict, Forbidden, Invalid, NotFound, Unauthenticated
from contentapi.core.identity import ANONYMOUS, OPERATOR, Actor, Role
from tests.blog.markdown_files import build_file
from tests.blog.test_archives import BAD, SITE, build_archive
from tests.blog.test_limited_parsing import SLOW
from tests.factories import make_actor, make_post, make_user
from users.authentication import build_session_actor
from users.models import User

pytestmark = pytest.mark.django_db
SEVERAL_CLOCKS = pytest.mark.django_db(transaction=True)  # each sees what another one has committed


@pytest.fixture
def worker() -> Iterator[ImportWorker]:
    worker = ImportWorker()
    yield worker
    worker.drop()


@pytest.fixture
def editor() -> Actor:
    return build_session_actor(make_user(Role.EDITOR, name="Edda Editor"))


def upload(actor: Actor, files: dict[str, str | bytes] | None = None, *, source: str = "") -> ImportJob:
    archive = build_archive(SITE if files is None else files)
    return jobs.create_import_job(actor=actor, archive=archive, name="site.zip", source=source)


def make_files(number: int) -> dict[str, str | bytes]:
    return {f"{each:04}.md": build_file(title=f"Post {each}") for each in range(number)}


def finish_work(worker: ImportWorker) -> None:
    while worker.work(Event()):
        pass


def import_completely(actor: Actor, worker: ImportWorker, files: dict[str, str | bytes] | None = None) -> ImportJob:
    job = upload(actor, files)
    finish_work(worker)
    jobs.start_import(actor=actor, job_id=str(job.pk))
    finish_work(worker)
    job.refresh_from_db()
    return job


def list_results(job: ImportJob, *, is_plan: bool) -> list[tuple[str, str]]:
    results = job.results.filter(is_plan=is_plan).order_by("number")
    return [(result.path, result.reason or result.outcome) for result in results]


LIMIT = "cannot be parsed with 512 MiB of memory and 0.2 s of CPU time. Make the front matter simpler."
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


def test_person_has_at_most_three_uploads_that_are_not_started(editor: Actor, worker: ImportWorker) -> None:
    first, *_ = [upload(editor, source=name) for name in "abc"]
    finish_work(worker)

    with pytest.raises(Invalid, match="At most 3 uploads may wait for their start"):
        upload(editor)
    assert ImportJob.objects.count() == 3
    assert not ImportPiece.objects.exclude(job__in=ImportJob.objects.all()).exists()
    upload(build_session_actor(make_user(Role.EDITOR)))  # another person may
    jobs.start_import(actor=editor, job_id=str(first.pk))
    upload(editor)


def test_uploads_of_a_person_have_at_most_200_mb_until_they_end(
    editor: Actor, worker: ImportWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = upload(editor)
    size = sum(map(len, job.pieces.values_list("content", flat=True)))
    monkeypatch.setattr(jobs, "MAX_STORED", 2 * size - 1)

    with pytest.raises(Invalid, match=rf"may have {2 * size - 1:,} bytes together \(got {2 * size:,}\)"):
        upload(editor)
    finish_work(worker)
    jobs.cancel_import(actor=editor, job_id=str(job.pk))
    upload(editor)


def test_file_that_breaks_a_limit_is_a_bad_file_and_the_rest_is_imported(editor: Actor, worker: ImportWorker) -> None:
    job = upload(editor, {"a.md": build_file(title="A"), "slow.md": SLOW, "z.md": build_file(title="Z")})
    worker.run = find_work()
    assert worker.run is not None
    worker.run.parser.seconds = 0.2

    finish_work(worker)

    assert list_results(job, is_plan=True) == [
        ("a.md", "created"),
        ("slow.md", LIMIT),
        ("z.md", "created"),
    ]


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


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (io.BytesIO(b"# Soup"), "This is not a zip file, or it is damaged. Create it again."),
        (build_archive({"a.txt": "x"}), "The zip file has no Markdown files (.md, .markdown, .mdx)."),
    ],
)
def test_unusable_archive_is_refused_at_the_upload(editor: Actor, content: io.BytesIO, message: str) -> None:
    with pytest.raises(Invalid) as refusal:
        jobs.create_import_job(actor=editor, archive=content, name="site.zip")

    assert refusal.value.fields == {"archive": [message]}
    assert not ImportJob.objects.exists()


def test_status_scheduled_is_refused_at_the_upload(editor: Actor) -> None:
    with pytest.raises(Invalid, match="published, archived"):
        jobs.create_import_job(actor=editor, archive=build_archive(SITE), name="x.zip", status="scheduled")


@pytest.mark.parametrize("role", [Role.READER, Role.AUTHOR])
def test_readers_and_authors_may_not_import(role: Role) -> None:
    with pytest.raises(Forbidden):
        upload(make_actor(role))


def test_anonymous_caller_and_operator_upload_nothing() -> None:
    for actor in (ANONYMOUS, OPERATOR):
        with pytest.raises(Unauthenticated):
            upload(actor)


def test_another_editor_does_not_find_an_import_and_an_admin_does(editor: Actor) -> None:
    job_id = str(upload(editor).pk)

    for act in (jobs.find_import_job, jobs.start_import, jobs.cancel_import):
        with pytest.raises(NotFound):
            act(actor=make_actor(Role.EDITOR), job_id=job_id)
    assert jobs.cancel_import(actor=make_actor(Role.ADMIN), job_id=job_id).state == "cancelled"


def test_import_of_a_person_who_has_become_an_author_fails(editor: Actor, worker: ImportWorker) -> None:
    job = upload(editor)
    User.objects.filter(pk=editor.user_id or 0).update(role=Role.AUTHOR)

    finish_work(worker)

    job.refresh_from_db()
    assert (job.state, job.problem) == ("failed", "You may not import posts.")
    assert not ImportPiece.objects.exists()


def test_import_of_a_locked_person_fails(editor: Actor, worker: ImportWorker) -> None:
    job = upload(editor)
    User.objects.filter(pk=editor.user_id or 0).update(is_active=False)

    finish_work(worker)

    job.refresh_from_db()
    assert (job.state, job.problem) == ("failed", "The account of the person who uploaded the zip file is locked.")


def test_only_a_checked_import_can_be_started(editor: Actor, worker: ImportWorker) -> None:
    job = upload(editor)
    with pytest.raises(Conflict, match="This import is checking"):
        jobs.start_import(actor=editor, job_id=str(job.pk))
    finish_work(worker)
    jobs.start_import(actor=editor, job_id=str(job.pk))

    with pytest.raises(Conflict, match="This import is importing"):
        jobs.start_import(actor=editor, job_id=str(job.pk))


def test_two_imports_of_one_source_do_not_run_at_the_same_time(editor: Actor, worker: ImportWorker) -> None:
    first, second, other = upload(editor), upload(editor), upload(editor, source="other")
    finish_work(worker)
    jobs.start_import(actor=editor, job_id=str(first.pk))

    with pytest.raises(Conflict) as refusal:
        jobs.start_import(actor=editor, job_id=str(second.pk))
    jobs.start_import(actor=editor, job_id=str(other.pk))

    assert refusal.value.message == "Another import of the source site is running. Wait until it has ended."


def test_cancelled_import_stops_and_keeps_the_posts_that_it_wrote(editor: Actor, worker: ImportWorker) -> None:
    job = upload(editor, make_files(9))
    finish_work(worker)
    jobs.start_import(actor=editor, job_id=str(job.pk))
    process_files(worker, 3)

    jobs.cancel_import(actor=editor, job_id=str(job.pk))
    finish_work(worker)

    job.refresh_from_db()
    assert (job.state, job.done, Post.objects.count()) == ("cancelled", 3, 3)
    assert not ImportPiece.objects.exists()
    with pytest.raises(Conflict, match="It cannot be cancelled any more"):
        jobs.cancel_import(actor=editor, job_id=str(job.pk))


def process_files(worker: ImportWorker, number: int) -> None:
    """Let a worker begin a run and process some files."""
    worker.run = worker.run or job_worker.find_work()
    assert worker.run is not None
    for _ in range(number):
        assert worker.run.process_next_file()


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


def test_work_stops_after_its_seconds_and_continues(editor: Actor, worker: ImportWorker) -> None:
    job = upload(editor, make_files(3))

    assert worker.work(Event(), seconds=0)
    job.refresh_from_db()
    assert (job.state, job.done) == ("checking", 0)
    finish_work(worker)

    job.refresh_from_db()
    assert (job.state, job.run) == ("checked", 1)


def test_work_stops_when_the_clock_stops(editor: Actor, worker: ImportWorker) -> None:
    job, stop = upload(editor), Event()
    stop.set()

    assert worker.work(stop)

    job.refresh_from_db()
    assert job.done == 0


KILLED_CLOCK = """
    import os, signal
    import django
    django.setup()
    from threading import Event
    from blog.files import importing
    from blog.files.job_worker import ImportWorker, find_work
    save, calls = importing.save_imported_post, []

    def save_and_die(*arguments):
        if len(calls) == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        calls.append(arguments)
        return save(*arguments)

    importing.save_imported_post = save_and_die
    while ImportWorker().work(Event()):
        pass
"""


def run_clock_that_is_killed() -> int:
    """Run the work in a process of its own, which is killed in the transaction of the fifth file."""
    database = connection.settings_dict
    code = f"""
    import os
    os.environ["DJANGO_SETTINGS_MODULE"] = "contentapi.settings"
    from django.conf import settings
    settings.DATABASES["default"]["NAME"] = {database["NAME"]!r}
    """
    command = [sys.executable, "-c", textwrap.dedent(code) + textwrap.dedent(KILLED_CLOCK)]
    return subprocess.run(command, cwd=settings.BASE_DIR, env=os.environ, check=False, timeout=120).returncode


@pytest.mark.servers
@SEVERAL_CLOCKS
def test_import_of_a_killed_clock_is_continued_by_another_one(editor: Actor, worker: ImportWorker) -> None:
    job = upload(editor, make_files(9))
    finish_work(worker)
    jobs.start_import(actor=editor, job_id=str(job.pk))

    assert run_clock_that_is_killed() == -signal.SIGKILL
    job.refresh_from_db()
    assert (job.state, job.done, Post.objects.count()) == ("importing", 4, 4)
    deadline = time.monotonic() + 60
    while ImportJob.objects.get(pk=job.pk).state == "importing" and time.monotonic() < deadline:
        finish_work(worker)  # PostgreSQL notices the end of the process after a moment

    job.refresh_from_db()
    assert (job.state, job.done, job.run) == ("done", 9, 3)
    assert list_results(job, is_plan=False) == [(name, "created") for name in sorted(make_files(9))]
    assert set(Post.objects.values_list("version", flat=True)) == {1}


def test_continued_import_begins_at_the_first_file_that_was_not_processed(editor: Actor) -> None:
    job = upload(editor, make_files(5))

    done = []
    for _ in range(3):  # each clock stops after one file
        run = find_work()
        assert run is not None
        assert run.process_next_file()
        run.close()
        done.append(ImportJob.objects.get(pk=job.pk).done)

    assert done == [1, 2, 3]


def test_continued_import_refuses_a_second_file_of_the_same_path(editor: Actor, worker: ImportWorker) -> None:
    page = "---\nlayout: home\n---\n"  # no post: the next file of this path is none that overwrites it
    files: dict[str, str | bytes] = {
        "a/b.md": build_file(title="First"),
        "c/d.md": page,
        "a\\b.md": build_file(title="Second"),
        "c\\d.md": page,
    }
    job = upload(editor, files)
    worker.run = find_work()
    assert worker.run is not None
    assert worker.run.process_next_file()
    assert worker.run.process_next_file()
    worker.drop()

    finish_work(worker)

    first, page_result, second, other_page = [result for _, result in list_results(job, is_plan=True)]
    assert (first, page_result, other_page) == ("created", "not a post", "not a post")
    assert second.startswith("another file of this import has the path a/b.md")


@SEVERAL_CLOCKS
def test_two_clocks_import_each_file_once(editor: Actor, worker: ImportWorker) -> None:
    uploaded = [upload(editor, make_files(8), source=name) for name in ("one", "two", "three")]
    finish_work(worker)
    for job in uploaded:
        jobs.start_import(actor=editor, job_id=str(job.pk))

    def work() -> None:
        own = ImportWorker()
        while own.work(Event(), seconds=0.01):
            pass
        own.drop()
        connection.close()

    threads = [Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    finish_work(worker)

    assert set(ImportJob.objects.values_list("state", "done")) == {("done", 8)}
    assert Post.objects.count() == PostSource.objects.count() == 24
    assert ImportResult.objects.filter(is_plan=False, outcome="created").count() == 24
    assert set(Post.objects.values_list("version", flat=True)) == {1}


def test_clock_whose_import_another_clock_has_continued_stops(editor: Actor, worker: ImportWorker) -> None:
    job = upload(editor, make_files(3))
    process_files(worker, 1)
    ImportJob.objects.filter(pk=job.pk).update(run=7)

    assert worker.run is not None
    assert not worker.run.process_next_file()
    job.refresh_from_db()
    assert job.done == 1


def test_import_that_makes_no_progress_fails_and_names_the_file(
    editor: Actor, worker: ImportWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = upload(editor, make_files(3))
    process_files(worker, 1)
    worker.drop()

    def fail(*_: object) -> None:
        raise OperationalError("the connection is lost")

    with monkeypatch.context() as patched:
        patched.setattr(importing, "apply_content", fail_at("Post 1", fail))
        for _ in range(job_worker.MAX_ATTEMPTS):
            with pytest.raises(OperationalError):
                finish_work(worker)
        finish_work(worker)

    job.refresh_from_db()
    assert job.state == "failed"
    assert job.problem.startswith("The import stopped several times at the same file, which is number 2 of 3.")


def fail_at(title: str, fail: Callable[..., None]) -> Callable[..., None]:
    """Return the function that applies the content of a file, but calls `fail` for one title."""
    apply_content = importing.apply_content

    def apply_or_fail(post: Post, parsed: MarkdownPost) -> None:
        if parsed.title == title:
            fail()
        apply_content(post, parsed)

    return apply_or_fail


def test_unexpected_error_fails_the_import_and_is_logged(
    editor: Actor, worker: ImportWorker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    job = upload(editor)

    def fail(*_: object) -> None:
        raise RuntimeError("unexpected")

    with monkeypatch.context() as patched:
        patched.setattr(importing, "apply_content", fail)
        finish_work(worker)

    job.refresh_from_db()
    assert (job.state, job.problem) == ("failed", job_worker.UNEXPECTED)
    assert [each.message for each in caplog.records if each.name == "contentapi.clock"] == [f"Import {job.pk} failed."]


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


def test_purge_needs_the_permission() -> None:
    with pytest.raises(Forbidden):
        jobs.purge_imports(actor=make_actor(Role.AUTHOR))


def test_results_are_read_in_pages_and_by_outcome(editor: Actor, worker: ImportWorker) -> None:
    job = import_completely(editor, worker)

    first = jobs.read_results(job, size=3)
    last = jobs.read_results(job, size=3, number=99)
    created = jobs.read_results(job, outcome="created")

    assert [result.path for result in first.results] == ["posts/a.md", "posts/_index.md", "posts/bad.md"]
    assert ([result.path for result in last.results], last.number, last.last) == (["_drafts/b.mdx"], 2, 2)
    assert first.counts == {"created": 2, "updated": 0, "unchanged": 0, "not a post": 1, "refused": 1, "undone": 0}
    assert created.posts == {post.source.path: post.pk for post in Post.objects.all()}
