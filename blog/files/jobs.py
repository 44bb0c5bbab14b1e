"""Imports of uploaded zip files: upload, decide, cancel, read the report, undo, purge. `job_worker` does the work.

An import has these states:

    checking -> checked -> importing -> done -> undoing -> undone

The worker checks each file, the owner reads what would happen and starts the import, and the worker imports. The owner
may cancel before the end. An import fails if its owner may no longer import, or if the work stops without progress.
An import that has ended can be undone: the posts that it created are deleted, also those that were changed after it.
They can be restored, with these changes; their slugs are free meanwhile. Posts that existed before are left alone.
"""

from collections.abc import Collection
from functools import partial
from pathlib import PurePosixPath
from typing import IO, NamedTuple

from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction
from django.db.models import Count, Max, QuerySet, Sum
from django.db.models.functions import Length
from django.utils import timezone

from blog import policy, services
from blog.files import archives
from blog.files.importing import DEFAULT_STATE, STATES, ImportOutcome, require_import_permission
from blog.models import RUNNING_IMPORT, ImportJob, ImportPiece, ImportResult, ImportState, OldSlug, Post
from blog.models.audit import Audit
from contentapi.conf.timeouts import IMPORT_SILENCE_LIMIT, IMPORTS_KEPT_FOR
from contentapi.core.errors import ApiError, Conflict, Invalid, NotFound, Unauthenticated, require_found
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.core.policy import require_credential, require_permission

PIECE = 1_000_000  # bytes of one row: the whole zip file is never in memory
MAX_WAITING = 3  # uploads of a person that are not started
MAX_STORED = 200_000_000  # bytes of the uploads of a person that have not ended
ENDED = [ImportState.DONE, ImportState.FAILED, ImportState.CANCELLED, ImportState.UNDONE]
CANCELLABLE = [ImportState.CHECKING, ImportState.CHECKED, ImportState.IMPORTING]
GONE = "The post does not exist any more."
UNDONE = "undone"  # the outcome of a file whose post was created, and deleted when the import was undone


def create_import_job(
    *, actor: Actor, archive: IO[bytes], name: str, source: str = "", status: str = DEFAULT_STATE
) -> ImportJob:
    """Store an uploaded zip file, which the worker then checks. No post is changed.

    Without a name, the source is the only folder in the zip file, or else the name of the zip file. Raises `Invalid`
    for a zip file that is broken, encrypted, too large or without Markdown files, and for too many uploads.
    """
    require_import_permission(actor)
    if actor.user_id is None:
        raise Unauthenticated("An import needs a user. The operator imports with import_posts.")
    if status not in STATES:
        raise Invalid({"status": [f"This must be one of: {', '.join(STATES)}."]})
    content = archives.Archive(archive, name=name, source=source.strip() or None)
    if not content.files:
        raise archives.build_archive_error("The zip file has no Markdown files (.md, .markdown, .mdx).")
    with transaction.atomic():
        job = ImportJob.objects.create(
            owner_id=actor.user_id,
            file_name=PurePosixPath(name).name[:200],
            source=content.source,
            status=status,
            total=len(content.files),
            ignored=content.ignored,
        )
        archive.seek(0)
        for number, piece in enumerate(iter(partial(archive.read, PIECE), b"")):
            ImportPiece.objects.create(job=job, number=number, content=piece)
        require_few_uploads(actor.user_id)
        Audit.IMPORT_UPLOADED.record(actor, "import", job.pk, files=job.total)
    return job


def require_few_uploads(user_id: int) -> None:
    """Raise `Invalid` if the uploads of a person are too many or too large. Call this after an upload."""
    get_user_model().objects.select_for_update(no_key=True).get(pk=user_id)  # uploads of one person are counted in turn
    jobs = ImportJob.objects.filter(owner=user_id)
    waiting = jobs.filter(state__in=[ImportState.CHECKING, ImportState.CHECKED]).count()
    if waiting > MAX_WAITING:
        raise archives.build_archive_error(
            f"At most {MAX_WAITING} uploads may wait for their start. Start or cancel one of yours first."
        )
    stored = ImportPiece.objects.filter(job__in=jobs).aggregate(size=Sum(Length("content")))["size"] or 0
    if stored > MAX_STORED:
        raise archives.build_archive_error(
            f"Your uploads may have {MAX_STORED:,} bytes together (got {stored:,}). "
            "Wait until an import has ended, or cancel one."
        )


def find_import_job(*, actor: Actor, job_id: str) -> ImportJob:
    """Return the import with this id. Raises `NotFound` if there is none that the actor may see."""
    require_credential(actor, "import posts")
    found = ImportJob.objects.filter(policy.visible_imports(actor), pk=parse_id(job_id))
    return require_found(found.select_related("owner").first(), "import")


@transaction.atomic
def start_import(*, actor: Actor, job_id: str) -> ImportJob:
    """Let the worker import what it checked. Raises `Conflict` in other states, and while one of the source runs."""
    job = lock_import_job(actor, job_id, [ImportState.CHECKED], "Only a checked import can be started.")
    job.state, job.done, job.attempts, job.updated_at = ImportState.IMPORTING, 0, 0, timezone.now()
    try:
        with transaction.atomic():
            job.save(update_fields=["state", "done", "attempts", "updated_at"])
    except IntegrityError:
        raise Conflict(f"Another import of the source {job.source} is running. Wait until it has ended.") from None
    Audit.IMPORT_STARTED.record(actor, "import", job.pk, files=job.total)
    return job


@transaction.atomic
def cancel_import(*, actor: Actor, job_id: str) -> ImportJob:
    """End an import. Posts that it has already written stay. Raises `Conflict` if it has ended."""
    job = lock_import_job(actor, job_id, CANCELLABLE, "It cannot be cancelled any more.")
    end_import(job, ImportState.CANCELLED, actor)
    return job


def lock_import_job(actor: Actor, job_id: str, states: Collection[str], refusal: str) -> ImportJob:
    """Return an import, locked until the transaction ends. Raises `Conflict` with the refusal in other states."""
    pk = find_import_job(actor=actor, job_id=job_id).pk
    require_import_permission(actor)
    job = require_found(ImportJob.objects.select_for_update().filter(pk=pk).first(), "import")
    if job.state not in states:
        raise Conflict(f"This import is {job.state}. {refusal}")
    return job


def end_import(job: ImportJob, state: ImportState, actor: Actor, problem: str = "") -> None:
    """Set the last state of an import and delete the zip file. Call this with a lock on the import."""
    old = job.state
    job.state, job.problem, job.updated_at = state, problem, timezone.now()
    job.save(update_fields=["state", "problem", "updated_at"])
    job.pieces.all().delete()
    counts = {outcome.replace(" ", "_"): number for outcome, number in count_outcomes(job, is_plan=False).items()}
    event = Audit.IMPORT_FINISHED if state == ImportState.DONE else Audit(f"import.{state}")
    event.record(actor, "import", job.pk, **counts, **{"from": str(old), "to": str(state)})


def count_outcomes(job: ImportJob, *, is_plan: bool) -> dict[str, int]:
    """Return the number of files of each outcome of the plan, or of the import."""
    results = job.results.filter(is_plan=is_plan)
    return dict(results.order_by().values_list("outcome").annotate(number=Count("pk")))


def has_only_plan(job: ImportJob) -> bool:
    """Whether the import has done nothing yet: its results are what it would do."""
    if job.state in (ImportState.CANCELLED, ImportState.FAILED):
        return not job.results.filter(is_plan=False).exists()
    return job.state in (ImportState.CHECKING, ImportState.CHECKED)


def purge_imports(*, actor: Actor) -> int:
    """Delete the imports that were uploaded more than 30 days ago and do not run. Return their number."""
    require_permission(actor, policy.may_purge_history(actor), "delete old imports")
    old = ImportJob.objects.filter(created_at__lt=timezone.now() - IMPORTS_KEPT_FOR).exclude(RUNNING_IMPORT)
    with transaction.atomic():
        ids = list(old.select_for_update(skip_locked=True).values_list("pk", flat=True))
        if ids:
            ImportJob.objects.filter(pk__in=ids).delete()
            Audit.IMPORT_PURGED.record(actor, imports=len(ids))
    return len(ids)


def is_waiting_for_worker(job: ImportJob) -> bool:
    """Whether the import has work for the worker, and no worker has done any import's work for some seconds."""
    if not job.is_running:
        return False
    last = ImportJob.objects.filter(RUNNING_IMPORT).aggregate(last=Max("updated_at"))["last"]
    return last is None or last < timezone.now() - IMPORT_SILENCE_LIMIT


class UndoPlan(NamedTuple):
    """What undoing an import would do: how many posts are deleted, and how many are left alone."""

    deleted: int
    changed: int  # of those: changed after the import
    gone: int
    existing: int


def plan_undo(job: ImportJob) -> UndoPlan:
    """Return what undoing an import would do now."""
    created = {post_id for post_id in select_undoable(job).values_list("post_id", flat=True) if post_id is not None}
    versions = list(Post.objects.filter(pk__in=created).values_list("version", flat=True))
    known = [ImportOutcome.UPDATED, ImportOutcome.UNCHANGED]
    return UndoPlan(
        deleted=len(versions),
        changed=sum(version > 1 for version in versions),
        gone=len(created) - len(versions),
        existing=job.results.filter(is_plan=False, outcome__in=known).count(),
    )


def may_be_undone(job: ImportJob) -> bool:
    return job.state in ENDED and select_undoable(job).exists()


def select_undoable(job: ImportJob) -> "QuerySet[ImportResult]":
    """Return the results of the files whose posts the import created and nobody has tried to undo."""
    return job.results.filter(is_plan=False, outcome=ImportOutcome.CREATED, reason="", post_id__isnull=False)


@transaction.atomic
def start_undo(*, actor: Actor, job_id: str) -> ImportJob:
    """Let the worker delete the posts that an import created. Raises `Conflict` if there are none."""
    job = lock_import_job(actor, job_id, ENDED, "Only an import that has ended can be undone.")
    if not may_be_undone(job):
        raise Conflict("This import has no posts that could be deleted.")
    job.state, job.undone_by, job.problem = ImportState.UNDOING, actor.user_id, ""
    job.attempts, job.updated_at = 0, timezone.now()
    job.save(update_fields=["state", "undone_by", "problem", "attempts", "updated_at"])
    return job


def undo_result(actor: Actor, result: ImportResult) -> None:
    """Delete the post of a file, or store why it is left alone."""
    post_id = str(result.post_id)
    try:
        services.delete_post(actor=actor, post_id=post_id)
    except NotFound:
        result.reason = GONE
    except ApiError as error:
        result.reason = error.message
    else:
        result.outcome = UNDONE
        # The next import of the files, also with another source, gets the addresses of the site.
        OldSlug.objects.filter(post_id=post_id).delete()
    result.save(update_fields=["outcome", "reason"])


def count_undone(job: ImportJob) -> tuple[int, int]:
    """Return how many posts of an import that is being undone are processed, and how many there are."""
    created = job.results.filter(is_plan=False, post_id__isnull=False)
    total = created.filter(outcome__in=[ImportOutcome.CREATED, UNDONE]).count()
    return total - select_undoable(job).count(), total


def find_undone_posts() -> dict[int, int]:
    """Return the posts that undone imports have deleted, and nobody has restored: the ids of the imports by theirs."""
    undone = ImportResult.objects.filter(is_plan=False, outcome=UNDONE, post_id__isnull=False)
    return {post: job for post, job in undone.values_list("post_id", "job_id") if post is not None}


def note_restored(post_id: int) -> None:
    """Let the import of a post that is restored be undone again."""
    ImportResult.objects.filter(is_plan=False, outcome=UNDONE, post_id=post_id).update(outcome=ImportOutcome.CREATED)
