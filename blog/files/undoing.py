"""Undo an import that has ended: the posts that it created are deleted. `job_worker` does the work.

Posts that existed before the import are left alone, and so are posts that were deleted since. A post that was changed
after the import is deleted too. Deleted posts can be restored, with these changes; their slugs are free meanwhile.
"""

from typing import NamedTuple

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from blog import services
from blog.files import jobs
from blog.files.importing import ImportOutcome
from blog.models import ImportJob, ImportResult, ImportState, OldSlug, Post
from contentapi.core.errors import ApiError, Conflict, NotFound
from contentapi.core.identity import Actor

ENDED = (ImportState.DONE, ImportState.CANCELLED, ImportState.FAILED, ImportState.UNDONE)
GONE = "The post does not exist any more."


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
    results: QuerySet[ImportResult] = job.results.filter(is_plan=False, outcome=ImportOutcome.CREATED, reason="")
    return results.filter(post_id__isnull=False)


@transaction.atomic
def start_undo(*, actor: Actor, job_id: str) -> ImportJob:
    """Let the worker delete the posts that an import created. Raises `Conflict` if there are none."""
    job = jobs.lock_import_job(actor, job_id)
    if job.state not in ENDED:
        raise Conflict(f"This import is {job.state}. Only an import that has ended can be undone.")
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
        result.outcome = jobs.UNDONE
        # The next import of the files, also with another source, gets the addresses of the site.
        OldSlug.objects.filter(post_id=post_id).delete()
    result.save(update_fields=["outcome", "reason"])


def count_undone(job: ImportJob) -> tuple[int, int]:
    """Return how many posts of an import that is being undone are processed, and how many there are."""
    created = job.results.filter(is_plan=False, post_id__isnull=False)
    total = created.filter(outcome__in=[ImportOutcome.CREATED, jobs.UNDONE]).count()
    return total - select_undoable(job).count(), total


def find_undone_posts() -> dict[int, int]:
    """Return the posts that undone imports have deleted, and nobody has restored: the ids of the imports by theirs."""
    undone = ImportResult.objects.filter(is_plan=False, outcome=jobs.UNDONE, post_id__isnull=False)
    return {post: job for post, job in undone.values_list("post_id", "job_id") if post is not None}


def note_restored(post_id: int) -> None:
    """Let the import of a post that is restored be undone again."""
    restored = ImportResult.objects.filter(is_plan=False, outcome=jobs.UNDONE, post_id=post_id)
    restored.update(outcome=ImportOutcome.CREATED)
