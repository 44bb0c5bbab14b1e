"""The work of imports, which is a job of the worker.

Several workers can run. A worker locks the source of an import for its database session: so one worker at a time works
on a source, and PostgreSQL releases the lock of a worker that was killed. Another worker then continues. Each file is
one transaction, together with its result and the progress. `run` numbers the workers that have worked on an import: a
worker whose number is no longer the last one stops.
"""

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from tempfile import TemporaryFile
from threading import Event
from typing import IO, Any

from django.db import Error as DatabaseErrors
from django.db import connection, transaction
from django.utils import timezone

from blog.files import archives, importing, jobs, reading, undoing
from blog.files.authors import list_author_names
from blog.files.importing import Earlier, FileReport, ImportOutcome
from blog.files.limited_parsing import LimitedParser
from blog.files.reading import ReadFile
from blog.models import RUNNING_IMPORT, ImportJob, ImportResult, ImportState
from contentapi.auth.sessions import build_session_actor
from contentapi.conf.timeouts import IMPORT_SIGN_OF_LIFE
from contentapi.core.errors import ApiError, Forbidden
from contentapi.core.identity import WORKER, Actor

logger = logging.getLogger("contentapi.worker")
END = "after the last file"
MAX_NOTES = 10  # of a file that the plan shows
MAX_ATTEMPTS = 5  # runs that end before the first file is finished
# The name stays: releases that run side by side share the lock.
LOCK_SOURCE = "SELECT pg_try_advisory_lock(hashtext('blog.import_jobs'), hashtext(%s))"
UNLOCK = "SELECT pg_advisory_unlock(hashtext('blog.import_jobs'), hashtext(%s))"
NO_PROGRESS = (
    "The import stopped several times at the same file, which is number {number} of {total}. "
    "Remove this file from the zip file, and report the error to the operator."
)
NO_UNDO = "The work stopped several times at the same post. Report the error to the operator."
UNEXPECTED = "The import failed because of an unexpected error. The operator finds it in the log of the worker."


def work_on_imports(stop: Event) -> None:
    """Work on imports until there is nothing to do, or until `stop` is set. Raises database errors.

    Any worker can then continue the import. After any other error, the import has failed.
    """
    while not stop.is_set() and (run := find_work()) is not None:
        with closing(run):
            run.work(stop)


def find_work() -> "ImportRun | None":
    """Return a run of the oldest import whose source no other worker works on; None if there is nothing to do."""
    for job in ImportJob.objects.filter(RUNNING_IMPORT).order_by("pk"):
        if not try_lock(job.source):
            continue
        taken = take_up_import(job.pk)
        if taken is not None:
            return ImportRun(taken)
        unlock(job.source)
    return None


@transaction.atomic
def take_up_import(job_id: int) -> ImportJob | None:
    """Number a new run of an import and return it. Return None if the import has ended, or fails now."""
    found = ImportJob.objects.select_for_update(of=("self",)).select_related("owner")
    job = found.filter(RUNNING_IMPORT, pk=job_id).first()
    if job is None:
        return None
    if job.attempts >= MAX_ATTEMPTS:
        is_undo = job.state == ImportState.UNDOING
        problem = NO_UNDO if is_undo else NO_PROGRESS.format(number=job.done + 1, total=job.total)
        jobs.end_import(job, ImportState.FAILED, WORKER, problem)
        return None
    job.run, job.attempts = job.run + 1, job.attempts + 1
    job.save(update_fields=["run", "attempts"])
    return job


def try_lock(source: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(LOCK_SOURCE, [source])
        return bool(cursor.fetchone()[0])


def unlock(source: str) -> None:
    """Release the lock on a source. Without a connection there is none: the lock ended with the session."""
    if connection.connection is None or connection.needs_rollback:
        return
    try:
        with connection.cursor() as cursor:
            cursor.execute(UNLOCK, [source])
    except DatabaseErrors:
        connection.close()


class ImportRun:
    """The work of one worker on one import."""

    def __init__(self, job: ImportJob) -> None:
        self.job = job
        self.number = 0  # of files that this run and earlier ones have processed
        self.resources = ExitStack()
        self.parser = self.resources.enter_context(closing(LimitedParser()))
        self.actor: Actor | None = None
        self.files: Iterator[ReadFile | None] | None = None
        self.earlier = Earlier(set(), set())

    def work(self, stop: Event) -> None:
        """Process the files until the import has ended, or until `stop` is set. Raises database errors."""
        try:
            while not stop.is_set() and self.process_next_file():
                pass
        except DatabaseErrors:
            raise
        except ApiError as error:
            self.fail(error.message)
        except Exception:
            logger.exception("Import %s failed.", self.job.pk)
            self.fail(UNEXPECTED)

    def process_next_file(self) -> bool:
        """Check, import or undo the next file, and store the result. Return False if the import has ended.

        While the file is still being parsed, return True after a moment.
        """
        if self.actor is None:
            self.actor = self.build_actor()
            importing.require_import_permission(self.actor)
        if self.job.state == ImportState.UNDOING:
            return self.undo_next_file(self.actor)
        if self.files is None:
            self.files = self.begin_files()
        read = next(self.files, END)
        if read is None:
            self.show_life()
            return True
        with transaction.atomic():
            job = self.lock_job()
            if job is None:
                return False
            if isinstance(read, str):
                self.finish(job)
                return False
            is_plan = job.state == ImportState.CHECKING
            report = importing.import_read_file(
                actor=self.actor, read=read, earlier=self.earlier, status=job.status, dry_run=is_plan
            )
            self.number += 1
            self.store_result(job, report)
        return True

    def show_life(self) -> None:
        """Store from time to time that the worker reads files, which takes some time before the first result."""
        now = timezone.now()
        if now > self.job.updated_at + IMPORT_SIGN_OF_LIFE:
            self.job.updated_at = now
            ImportJob.objects.filter(RUNNING_IMPORT, pk=self.job.pk, run=self.job.run).update(updated_at=now)

    def lock_job(self) -> ImportJob | None:
        """Return the import; None if it was cancelled or deleted, or if another worker has continued it."""
        current = ImportJob.objects.select_for_update().filter(RUNNING_IMPORT, pk=self.job.pk)
        return current.filter(run=self.job.run, state=self.job.state).first()

    @transaction.atomic
    def undo_next_file(self, actor: Actor) -> bool:
        job = self.lock_job()
        if job is None:
            return False
        remaining = undoing.select_undoable(job).filter(number__gt=self.number)
        result = remaining.order_by("number").first()
        if result is None:
            jobs.end_import(job, ImportState.UNDONE, actor)
            return False
        undoing.undo_result(actor, result)
        self.number = result.number
        job.attempts, job.updated_at = 0, timezone.now()
        job.save(update_fields=["attempts", "updated_at"])
        return True

    def begin_files(self) -> Iterator[ReadFile | None]:
        """Open the zip file and return its files, which are read one at a time.

        Files that an earlier run has processed are left out: their results are stored.
        """
        archive = self.resources.enter_context(self.load_archive())
        opened = self.resources.enter_context(archives.open_archive(archive))
        content = archives.list_content(opened, name=self.job.file_name, source=self.job.source)
        results = list(self.job.results.filter(is_plan=self.job.state == ImportState.CHECKING))
        self.number = len(results)
        posts = [result for result in results if result.outcome != ImportOutcome.NOT_A_POST]
        self.earlier.files.update((self.job.source, result.path) for result in posts)
        self.earlier.slugs.update(result.details.get("slug", "") for result in posts if result.details)
        done = Counter(result.path for result in results)
        remaining = []
        for file in content.files:
            done[file.path] -= 1
            remaining += [file] if done[file.path] < 0 else []
        return reading.read_files(self.parser, remaining)

    def load_archive(self) -> IO[bytes]:
        """Return a temporary file with the zip file."""
        archive = TemporaryFile()  # noqa: SIM115 - `resources` closes it
        pieces = self.job.pieces.order_by("number")
        for number in pieces.values_list("number", flat=True):
            archive.seek(number * jobs.PIECE)
            archive.write(pieces.values_list("content", flat=True).get(number=number))
        return archive

    def build_actor(self) -> Actor:
        """Return the owner, or the person who undoes the import, as the actor with the present role."""
        if self.job.state == ImportState.UNDOING:
            person = undoing.find_person(self.job)
            if person is None or not person.is_active:
                raise Forbidden("The account of the person who undid the import is locked or deleted.")
        else:
            person = self.job.owner
            if not person.is_active:
                raise Forbidden("The account of the person who uploaded the zip file is locked.")
        return build_session_actor(person).through("import")

    def store_result(self, job: ImportJob, report: FileReport) -> None:
        """Store the result of a file and the progress, in the transaction of the file."""
        path = report.file.path.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
        is_plan = job.state == ImportState.CHECKING
        ImportResult.objects.create(
            job=job,
            is_plan=is_plan,
            number=self.number,
            path=path,
            outcome=report.outcome.value,
            reason=report.reason,
            post_id=report.post.pk if report.post and not is_plan else None,
            details=describe_post(report),
        )
        job.done, job.attempts, job.updated_at = self.number, 0, timezone.now()
        job.save(update_fields=["done", "attempts", "updated_at"])

    def finish(self, job: ImportJob) -> None:
        if job.state == ImportState.IMPORTING:
            owner = build_session_actor(self.job.owner).through("import")
            jobs.end_import(job, ImportState.DONE, owner)
            logger.info("Finished import %s: %s files of the source %s.", job.pk, job.total, job.source)
        else:
            job.state, job.updated_at = ImportState.CHECKED, timezone.now()
            job.save(update_fields=["state", "updated_at"])

    @transaction.atomic
    def fail(self, problem: str) -> None:
        """Set the state of the import to failed, if it still runs."""
        job = ImportJob.objects.select_for_update().filter(RUNNING_IMPORT, pk=self.job.pk, run=self.job.run).first()
        if job is not None:
            jobs.end_import(job, ImportState.FAILED, WORKER, problem)

    def close(self) -> None:
        self.resources.close()
        unlock(self.job.source)


def describe_post(report: FileReport) -> dict[str, Any] | None:
    """Return what the page of an import shows of a file's post, as JSON values."""
    post = report.post
    if post is None:
        return None
    return {
        "title": post.title,
        "slug": post.slug,
        "takenSlug": report.wanted_slug if report.wanted_slug != post.slug else "",
        "date": post.created_at.isoformat(),
        "author": ", ".join(list_author_names(post)),
        "tags": list(post.tags),
        "status": str(post.status),
        "publishAt": post.publish_at and post.publish_at.isoformat(),
        "notes": list(report.notes[:MAX_NOTES]),
        "more": max(0, len(report.notes) - MAX_NOTES),
    }
