"""Deleted posts, which can be restored for 30 days, and the end of old history."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, Model, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from blog import models, policy, services
from blog.history.versions import EVENT_COLUMNS, PAGE, build_deletion, name_people, select_deleted_posts
from blog.models.audit import Audit
from contentapi.conf.timeouts import HISTORY_KEPT_FOR, RESTORABLE_FOR
from contentapi.core.errors import Conflict, require_found
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.core.policy import require_credential, require_permission
from contentapi.db.distribution import get_backend
from contentapi.events.triggers import silence

EVERY_POST = Q()
ROWS_PER_STATEMENT = 500  # rows that one statement of the purge deletes


def select_restorable_posts(actor: Actor) -> QuerySet[Any]:
    """Return the last versions of the deleted posts that the actor may restore, with `author_name`."""
    authors = models.Author.objects.filter(pk=OuterRef("author_id"))
    posts: QuerySet[Any] = select_deleted_posts(actor).annotate(author_name=Subquery(authors.values("name")))
    return posts


def list_deleted_posts(
    *, actor: Actor, before: int | None = None, limit: int = PAGE, condition: Q = EVERY_POST
) -> tuple[list[dict[str, Any]], int | None]:
    """Return the deleted posts that the actor may restore, the last deleted first, from after a position; and the
    position with which the next page begins, None on the last page.

    `condition` is one on the last versions of the posts. A post has also its `deletion`, the number of its `comments`,
    and the time `restorable_until`.
    """
    require_permission(actor, policy.may_list_deleted_posts(actor), "see deleted posts")
    deleted = select_restorable_posts(actor).filter(condition)
    if before is not None:  # ids of several nodes have no common order; after a purged one there is nothing to restore
        at = Subquery(models.PostVersion.objects.filter(pgh_id=before).values("pgh_created_at"))
        is_earlier = Q(pgh_created_at__lt=at)
        is_earlier |= Q(pgh_created_at=at, pgh_id__lt=before)
        deleted = deleted.filter(is_earlier)
    columns = ("pgh_id", "id", "title", "author_name", "changed_by", *EVENT_COLUMNS)
    ordered = deleted.order_by("-pgh_created_at", "-pgh_id")
    rows = list(ordered.values(*columns)[: limit + 1])
    posts, names = rows[:limit], name_people(rows)
    comments = count_deleted_comments(posts)
    for post in posts:
        deleted_at = post["pgh_created_at"]
        post["deletion"] = build_deletion(post, names)
        post["comments"] = comments.get((post["id"], deleted_at), 0)
        post["restorable_until"] = deleted_at + RESTORABLE_FOR
    next_before = posts[-1]["pgh_id"] if len(rows) > limit else None
    return posts, next_before


def count_deleted_comments(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[int, datetime], int]:
    """Return the number of comments that were deleted with each post, without those that were deleted before it."""
    comments = models.DeletedComment.objects.filter(post__in=[row["id"] for row in rows])
    comments = comments.exclude(state=models.CommentState.DELETED)
    counts = comments.values_list("post_id", "pgh_created_at").annotate(Count("pgh_id"))
    return {(post_id, deleted_at): number for post_id, deleted_at, number in counts.order_by()}


@transaction.atomic
def restore_deleted_post(*, actor: Actor, post_id: str) -> models.Post:
    """Restore a deleted post with its id, its state, its source and the comments that were deleted with it.

    It gets a new version, and another slug if its own is taken. A post that was scheduled for a time in the past
    becomes a draft. Co-authors who were deleted are left out. Raises `NotFound`, and `Conflict` if the author was
    deleted.
    """
    require_credential(actor, "restore posts")
    found = select_deleted_posts(actor).filter(id=parse_id(post_id)).select_for_update(of=("self",))
    last = require_found(found.first(), "deleted post")
    if models.Post.objects.filter(pk=last.id).exists():  # restored while this transaction waited for the lock
        raise Conflict("This post is not deleted.")
    author = models.Author.objects.filter(pk=last.author_id).first()
    if author is None:
        raise Conflict("The author of this post was deleted. The post cannot be restored without its author.")
    require_permission(actor, policy.may_write_posts_of(actor, author.user_id), "restore this post")
    values = {name: getattr(last, name) for name in models.posts.RESTORED if name != "author"}
    post = models.Post(id=last.id, author=author, **values)
    if post.status == models.PostStatus.SCHEDULED and post.publish_at is not None and post.publish_at <= timezone.now():
        post.status, post.publish_at = models.PostStatus.DRAFT, None
    may_transition = policy.may_transition_posts_of(actor, author.user_id, models.PostStatus.DRAFT, post.status)
    require_permission(actor, may_transition, f"restore this {post.status} post")
    post.coauthor_ids = [coauthor.pk for coauthor in models.Author.objects.in_order_of(last.coauthor_ids)]
    post.version, post.updated_at = last.version + 1, timezone.now()
    post.created_at = min(post.created_at, post.updated_at)  # earlier imports stored dates in the future
    services.attribute_change(post, actor)
    if post.status == models.PostStatus.PUBLISHED:
        services.render(post)
    services.slugs.save_with_free_slug(post, post.slug, force_insert=True)
    models.OldSlug.objects.filter(slug=post.slug, post_id=post.pk).delete()  # which its deletion has kept for it
    with silence("comment"):
        restore_rows(models.Comment, models.DeletedComment.objects.filter(author__in=models.Author.objects.all()), last)
    restore_rows(models.PostSource, exclude_known_files(last), last)
    Audit.POST_RESTORED.record(actor, "post", post.pk, to=str(post.status))
    return post


def exclude_known_files(post: models.PostVersion) -> QuerySet[Any]:
    """Return the source that was deleted with a post, or none if its file was imported again."""
    rows: QuerySet[Any] = models.DeletedPostSource.objects.filter(post=post.id, pgh_created_at=post.pgh_created_at)
    known = [
        each.pgh_id
        for each in rows
        if models.PostSource.objects.filter(source=each.source, path=each.path).exists()
        or not services.sources.claim_file(each.source, each.path, post.id)
    ]
    return rows.exclude(pgh_id__in=known)


def restore_rows(model: type[Model], deleted: QuerySet[Any], post: models.PostVersion) -> None:
    """Insert the rows that were deleted in the same transaction as a post, with their ids."""
    names = [field.attname for field in model._meta.concrete_fields]  # noqa: SLF001
    rows = deleted.filter(post=post.id, pgh_created_at=post.pgh_created_at).values(*names)
    model._default_manager.bulk_create((model(**row) for row in rows), batch_size=ROWS_PER_STATEMENT)  # noqa: SLF001


def purge_history(*, actor: Actor) -> int:
    """Delete the history of the posts that were deleted more than 30 days ago, and older deleted comments.

    Returns the number of posts. Each batch is a transaction of its own. The history of existing posts is kept.
    """
    require_permission(actor, policy.may_purge_history(actor), "delete the history of posts")
    end = timezone.now() - HISTORY_KEPT_FOR
    for model in (models.DeletedComment, models.DeletedPostSource):
        expired = model.objects.filter(pgh_created_at__lt=end).values("pgh_id")[:ROWS_PER_STATEMENT]
        while model.objects.filter(pgh_id__in=expired).delete()[0]:
            pass
    posts = models.Post.objects.filter(pk=OuterRef("id"))
    recent = models.PostVersion.objects.filter(id=OuterRef("id"), pgh_created_at__gte=end)
    deleted = models.PostVersion.objects.filter(pgh_label="delete", pgh_created_at__lt=end)
    deleted = deleted.exclude(Exists(posts)).exclude(Exists(recent)).order_by("pgh_id").values_list("id", flat=True)
    purged = set[int]()
    while True:
        with transaction.atomic():
            ids = list(get_backend().lock(deleted, ROWS_PER_STATEMENT, skip_locked=True))
            models.PostVersion.objects.filter(id__in=ids).delete()
            models.CopyVersion.objects.filter(post__in=ids).delete()
            models.OldSlug.objects.filter(post_id__in=ids).delete()
        purged |= set(ids)
        if len(ids) < ROWS_PER_STATEMENT:
            break
    if purged:
        Audit.POST_HISTORY_PURGED.record(actor, posts=len(purged))
    return len(purged)
