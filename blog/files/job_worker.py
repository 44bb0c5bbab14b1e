"""The work of imports, which is a job of the worker.

Several workers can run. A worker claims an import while no other one works on its source, and renews the claim while it
works. Another worker continues the import of one that was killed. Each file is one transaction, together with its
result and the progress. `run` numbers the workers that have worked on an import: a worker whose number is no longer the
last one stops.
"""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from tempfile import TemporaryFile
from threading import Event
from typing import Any

from django.contrib.auth import get_user_model
from django.db import Error as DatabaseErrors
from django.db import transaction
from django.db.models import F, Min, QuerySet
from django.utils import timezone

from blog.files import archives, importing, jobs, reading
from blog.files.authors import list_author_names
from blog.files.importing import Earlier, FileReport, ImportOutcome
from blog.files.reading import LimitedParser, MarkdownFile
from blog.models import RUNNING_IMPORT, ImportJob, ImportResult, ImportState
from contentapi.auth.sessions import build_session_actor
from contentapi.conf.timeouts import CLAIM_RENEWAL
from contentapi.core.errors import ApiError, Forbidden
from contentapi.core.identity import WORKER, Actor
from contentapi.worker.claims import CLAIM_END, IS_FREE, claim

logger = logging.getLogger("contentapi.worker")
MAX_NOTES = 10  # of a file that the plan shows
MAX_ATTEMPTS = 5  # runs that end before the first file is finished
NO_PROGRESS = (
    "The import stopped several times at the same file, which is number {number} of {total}. "
    "Remove this file from the zip file, and report the error to the operator."
)
NO_UNDO = "The work stopped several times at the same post. Report the error to the operator."
UNEXPECTED = "The import failed because of an unexpected error. The operator finds it in the log of the worker."


class Stopped(Exception):
    """The worker ends, or somebody has ended the import: no further file is read."""


def work_on_imports(stop: Event) -> None:
    """Work on imports until there is nothing to do, or until `stop` is set. Raises database errors.

    Any worker can then continue the import. After any other error, the import has failed.
    """
    while not stop.is_set() and (job := claim_import()) is not None:
        try:
            work_on_import(job, stop)
        finally:
            with suppress(DatabaseErrors):  # a claim that cannot be released ends by itself
                ImportJob.objects.filter(pk=job.pk, run=job.run).update(claimed_until=None)


@transaction.atomic
def claim_import() -> ImportJob | None:
    """Claim an import, of each source the oldest one, unless a worker works on an import of this source."""
    running = ImportJob.objects.filter(RUNNING_IMPORT)
    free = running.exclude(source__in=running.filter(~IS_FREE).values("source"))
    in_turn = free.values("source").annotate(oldest=Min("pk")).order_by("oldest")
    for pk in in_turn.values_list("oldest", flat=True):
        if job := claim(running.filter(pk=pk), run=F("run") + 1):
            return job
    return None


def work_on_import(job: ImportJob, stop: Event) -> None:
    """Check, import or undo the files until the import has ended, or until `stop` is set. Raises database errors."""
    is_undo = job.state == ImportState.UNDOING
    if job.attempts > MAX_ATTEMPTS:
        fail(job, NO_UNDO if is_undo else NO_PROGRESS.format(number=job.done + 1, total=job.total))
        return
    try:
        actor = build_actor(job)
        importing.require_import_permission(actor)
        (undo_files if is_undo else process_files)(job, actor, stop)
        finish(job, actor)
    except Stopped:
        return
    except DatabaseErrors:
        raise
    except ApiError as error:
        fail(job, error.message)
    except Exception:
        logger.exception("Import %s failed.", job.pk)
        fail(job, UNEXPECTED)


def build_actor(job: ImportJob) -> Actor:
    """Return the owner, or the person who undoes the import, as the actor with the present role."""
    is_undo = job.state == ImportState.UNDOING
    people = get_user_model().objects.filter(pk=job.undone_by or 0 if is_undo else job.owner_id, is_active=True)
    person = people.first()
    if person is None:
        deed = "undid the import" if is_undo else "uploaded the zip file"
        raise Forbidden(f"The account of the person who {deed} is locked or deleted.")
    return build_session_actor(person).through("import")


def select_taken(job: ImportJob) -> "QuerySet[ImportJob]":
    """Return the import, unless it was cancelled or deleted, or another worker has continued it."""
    return ImportJob.objects.filter(pk=job.pk, run=job.run, state=job.state)


@contextmanager
def make_progress(job: ImportJob) -> Iterator[ImportJob]:
    """Do a part of the work in a transaction, and store the progress. Raises `Stopped` if the import is not ours."""
    with transaction.atomic():
        current = select_taken(job).select_for_update().first()
        if current is None:
            raise Stopped
        yield current
        current.attempts, current.updated_at, current.claimed_until = 0, timezone.now(), CLAIM_END
        current.save(update_fields=["state", "done", "attempts", "updated_at", "claimed_until"])


def process_files(job: ImportJob, actor: Actor, stop: Event) -> None:
    """Check or import the files, and store the result of each in its transaction."""
    is_plan = job.state == ImportState.CHECKING

    def pause() -> None:
        if stop.is_set():
            raise Stopped
        show_life(job)

    with TemporaryFile() as archive, closing(LimitedParser(pause)) as parser:
        for piece in job.pieces.order_by("number").values_list("content", flat=True).iterator(1):
            archive.write(piece)
        files = archives.Archive(archive, name=job.file_name, source=job.source).files
        results = list(job.results.filter(is_plan=is_plan))
        earlier, remaining = collect_earlier(job, results), list_remaining(files, results)
        for number, read in enumerate(reading.read_files(parser, remaining), len(results) + 1):
            with make_progress(job) as current:
                report = importing.import_read_file(
                    actor=actor, read=read, earlier=earlier, status=job.status, dry_run=is_plan
                )
                ImportResult.objects.create(job=job, is_plan=is_plan, number=number, **describe_report(report, is_plan))
                current.done = number


def collect_earlier(job: ImportJob, results: Sequence[ImportResult]) -> Earlier:
    posts = [result for result in results if result.outcome != ImportOutcome.NOT_A_POST]
    slugs = {result.details.get("slug", "") for result in posts if result.details}
    return Earlier({(job.source, result.path) for result in posts}, slugs)


def list_remaining(files: Sequence[MarkdownFile], results: Sequence[ImportResult]) -> list[MarkdownFile]:
    """Return the files without those that an earlier run has processed."""
    done = Counter(result.path for result in results)
    remaining = []
    for file in files:
        done[file.path] -= 1
        remaining += [file] if done[file.path] < 0 else []
    return remaining


def show_life(job: ImportJob) -> None:
    """Store from time to time that the worker reads files, which takes some time before the first result."""
    now = timezone.now()
    if now > job.updated_at + timedelta(seconds=CLAIM_RENEWAL):
        job.updated_at = now
        if not select_taken(job).update(updated_at=now, claimed_until=CLAIM_END):
            raise Stopped


def undo_files(job: ImportJob, actor: Actor, stop: Event) -> None:
    """Delete the posts that the import has created, each in its transaction."""
    for result in list(jobs.select_undoable(job).order_by("number")):
        if stop.is_set():
            raise Stopped
        with make_progress(job):
            jobs.undo_result(actor, result)


def finish(job: ImportJob, actor: Actor) -> None:
    with make_progress(job) as current:
        if job.state == ImportState.CHECKING:
            current.state = ImportState.CHECKED
        else:
            is_undo = job.state == ImportState.UNDOING
            jobs.end_import(current, ImportState.UNDONE if is_undo else ImportState.DONE, actor)


def fail(job: ImportJob, problem: str) -> None:
    """Set the state of the import to failed, if it still runs."""
    with suppress(Stopped), make_progress(job) as current:
        jobs.end_import(current, ImportState.FAILED, WORKER, problem)


def describe_report(report: FileReport, is_plan: bool) -> dict[str, Any]:  # noqa: FBT001 - the only value
    """Return what is stored of a file. `details` are what the page of the import shows of its post, as JSON values."""
    post = report.post
    return {
        "path": report.file.path.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}"),
        "outcome": report.outcome.value,
        "reason": report.reason,
        "post_id": post.pk if post and not is_plan else None,
        "details": post
        and {
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
        },
    }
