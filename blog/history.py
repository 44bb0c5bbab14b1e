"""The history of posts: their versions, the differences between them, and restoring.

Triggers of PostgreSQL write the history (`blog.models.PostVersion`). A version is the row before a change or a
deletion; the present version is the row of the post. So the history has every version, regardless of who made it and
how.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Count, Exists, F, Model, OuterRef, QuerySet
from django.db.models.functions import MD5
from django.utils import timezone

from blog import selectors, services
from blog.differences import DifferenceLine, compare_texts
from blog.models import (
    DATABASE,
    VERSIONED,
    Author,
    Comment,
    CommentState,
    DeletedComment,
    DeletedPostSource,
    Post,
    PostSource,
    PostStatus,
    PostVersion,
)
from contentapi.core import policy
from contentapi.core.entity_tags import ExpectedVersion
from contentapi.core.errors import Conflict, NotFound, require_found
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.monitoring.audit import Event, record_event

RESTORABLE_FOR = timedelta(days=30)
KEPT_FOR = RESTORABLE_FOR + timedelta(hours=1)  # a restore that began in time finds the history
PAGE = 50  # versions, and deleted posts, of a page
BATCH = 500  # rows that one statement of the purge deletes
CONTENT = [name for name in VERSIONED if name not in ("body", "author")]
COLUMNS = [*CONTENT, "author_id", "updated_at", "version", "changed_at", "changed_by", "changed_with"]
EVENT_COLUMNS = ["pgh_label", "pgh_created_at", "pgh_context"]
RESTORED = ("title", "body", "tags")  # what the restore of a version writes. The state and the times stay


class Change(NamedTuple):
    """Who did something, when, and with which interface and credential.

    `person` is empty if no user did it: an operator, the clock, or a change in the database.
    """

    at: datetime
    person: str
    origin: str


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a post. `values` has the fields of the post.

    `changed_fields` are the fields that differ from the version before; None if that version is unknown or not read.
    `deletion` is the deletion that ended this version, also if the post was restored after it. `is_restored` states
    whether the version before was deleted, if it is read.
    """

    number: int
    values: Mapping[str, Any]
    made: Change
    is_present: bool
    deletion: Change | None = None
    changed_fields: Sequence[str] | None = None
    is_restored: bool = False


class VersionPage(NamedTuple):
    """A page of the versions of a post, the newest first. `next_before` begins the next page; None on the last page.

    `present` is the number of the present version; None for a deleted post.
    """

    title: str
    present: int | None
    versions: list[Version]
    next_before: int | None


class FieldChange(NamedTuple):
    name: str
    old: Any
    new: Any


class Comparison(NamedTuple):
    """The differences of two versions: of the fields except the body, and of the lines of the body."""

    old: Version
    new: Version
    fields: list[FieldChange]
    body: list[DifferenceLine]


class DeletedPost(NamedTuple):
    post_id: int
    title: str
    author: str
    deletion: Change
    comments: int
    restorable_until: datetime


class DeletedPostPage(NamedTuple):
    posts: list[DeletedPost]
    next_before: int | None


def list_versions(*, actor: Actor, post_id: str, before: int | None = None, limit: int = PAGE) -> VersionPage:
    """Return the versions of a post that are older than `before`, the newest first. Raises `NotFound`.

    Executes the same number of statements for each page. The bodies are compared by their digests in PostgreSQL.
    """
    pk = find_history(actor, post_id)
    digest = MD5("body")
    rows: list[dict[str, Any]] = list(Post.objects.filter(pk=pk).values(*COLUMNS, body_digest=digest))
    present = rows[0]["version"] if rows else None
    present_title = rows[0]["title"] if rows else ""
    earlier = PostVersion.objects.filter(id=pk)
    if present is not None:  # a change after the statement above must not list a version twice
        earlier = earlier.filter(version__lt=present)
    if before is not None:
        earlier = earlier.filter(version__lt=before)
        rows = [row for row in rows if row["version"] < before]
    earlier = earlier.order_by("-version", "-pgh_id")
    rows += earlier.values(*COLUMNS, *EVENT_COLUMNS, body_digest=digest)[: limit + 1 - len(rows)]
    names = name_users(rows)
    versions = [build_version(row, names, rows[number + 1 :]) for number, row in enumerate(rows[:limit])]
    title = present_title or (rows[0]["title"] if rows else "")
    return VersionPage(title, present, versions, versions[-1].number if len(rows) > limit else None)


def find_history(actor: Actor, post_id: str) -> int:
    """Return the id of a post. Raises `NotFound`, also for a deleted post that cannot be restored any more."""
    act = "see the history of this post"
    policy.require_credential(actor, act)
    post = selectors.select_post_by_id(actor, post_id).queryset().select_related("author").defer("body").first()
    if post is not None:
        policy.require_permission(actor, policy.may_see_history_of(actor, post.author.user_id), act)
        return post.pk
    deleted = select_deleted_posts(actor).filter(id=parse_id(post_id)).values_list("id", flat=True)
    return int(require_found(deleted.first(), "post"))


def read_version(*, actor: Actor, post_id: str, number: int) -> Version:
    """Return a version of a post with its body. Raises `NotFound`."""
    row = read_row(find_history(actor, post_id), number)
    return build_version(row, name_users([row]))


def read_row(pk: int, number: int) -> dict[str, Any]:
    row: dict[str, Any] | None = Post.objects.filter(pk=pk, version=number).values(*COLUMNS, "body").first()
    if row is None:
        versions = PostVersion.objects.filter(id=pk, version=number).order_by("-pgh_id")
        row = versions.values(*COLUMNS, *EVENT_COLUMNS, "body").first()
    if row is None:
        raise NotFound(f"This post has no version {number}.")
    return row


def compare_versions(*, actor: Actor, post_id: str, old: int, new: int) -> Comparison:
    """Return the differences between two versions of a post. Raises `NotFound`."""
    pk = find_history(actor, post_id)
    rows = [read_row(pk, number) for number in (old, new)]
    names = name_users(rows)
    before, after = (build_version(row, names) for row in rows)
    fields = [
        FieldChange(name, before.values[name], after.values[name])
        for name in CONTENT
        if before.values[name] != after.values[name]
    ]
    if before.values["author_id"] != after.values["author_id"]:
        authors = dict(Author.objects.filter(pk__in=[row["author_id"] for row in rows]).values_list("pk", "name"))
        fields.append(FieldChange("author", *(authors.get(row["author_id"], "a deleted author") for row in rows)))
    return Comparison(before, after, fields, compare_texts(before.values["body"], after.values["body"]))


@transaction.atomic
def restore_version(*, actor: Actor, post_id: str, number: int, expected_version: ExpectedVersion = None) -> Post:
    """Write the title, the body and the tags of an earlier version as a new version. Raises `NotFound`, `Conflict`.

    The state, the author and the times stay. If the texts are equal, nothing changes.
    """
    version = read_version(actor=actor, post_id=post_id, number=number)
    changes = {name: version.values[name] for name in RESTORED}
    return services.edit_post(actor=actor, post_id=post_id, changes=changes, expected_version=expected_version)


def list_deleted_posts(*, actor: Actor, before: int | None = None, limit: int = PAGE) -> DeletedPostPage:
    """Return the deleted posts that the actor may restore, the last deleted first, from after a position."""
    policy.require_permission(actor, policy.may_list_deleted_posts(actor), "see deleted posts")
    deleted = select_deleted_posts(actor)
    if before is not None:
        deleted = deleted.filter(pgh_id__lt=before)
    columns = ("pgh_id", "id", "title", "author_id", "changed_by")
    rows = list(deleted.order_by("-pgh_id").values(*columns, *EVENT_COLUMNS)[: limit + 1])
    shown, names = rows[:limit], name_users(rows)
    authors = dict(Author.objects.filter(pk__in=[row["author_id"] for row in shown]).values_list("pk", "name"))
    comments = count_deleted_comments(shown)
    posts = [
        DeletedPost(
            post_id=row["id"],
            title=row["title"],
            author=authors.get(row["author_id"], ""),
            deletion=build_deletion(row, names),
            comments=comments.get((row["id"], row["pgh_created_at"]), 0),
            restorable_until=row["pgh_created_at"] + RESTORABLE_FOR,
        )
        for row in shown
    ]
    return DeletedPostPage(posts, shown[-1]["pgh_id"] if len(rows) > limit else None)


def select_deleted_posts(actor: Actor) -> QuerySet[PostVersion]:
    """Return the last versions of the deleted posts that the actor may restore."""
    posts = Post.objects.filter(pk=OuterRef("id"))
    later = PostVersion.objects.filter(id=OuterRef("id"), pgh_id__gt=OuterRef("pgh_id"))
    since = timezone.now() - RESTORABLE_FOR
    deleted: QuerySet[PostVersion] = PostVersion.objects.filter(pgh_label="delete", pgh_created_at__gt=since)
    return deleted.filter(policy.visible_deleted_posts(actor)).exclude(Exists(posts)).exclude(Exists(later))


def count_deleted_comments(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[int, datetime], int]:
    """Return the number of comments that were deleted with each post, without those that were deleted before it."""
    comments = DeletedComment.objects.filter(post__in=[row["id"] for row in rows]).exclude(state=CommentState.DELETED)
    counts = comments.values_list("post_id", "pgh_created_at").annotate(Count("pgh_id"))
    return {(post_id, deleted_at): number for post_id, deleted_at, number in counts.order_by()}


@transaction.atomic
def restore_deleted_post(*, actor: Actor, post_id: str) -> Post:
    """Restore a deleted post with its id, its state, its source and the comments that were deleted with it.

    It gets a new version. A post that was scheduled for a time in the past becomes a draft. Raises `NotFound`, and
    `Conflict` if the author was deleted.
    """
    policy.require_credential(actor, "restore posts")
    found = select_deleted_posts(actor).filter(id=parse_id(post_id)).select_for_update(of=("self",))
    last = require_found(found.first(), "deleted post")
    if Post.objects.filter(pk=last.id).exists():  # another transaction restored it while this one waited for the lock
        raise Conflict("This post is not deleted.")
    author = Author.objects.filter(pk=last.author_id).first()
    if author is None:
        raise Conflict("The author of this post was deleted. The post cannot be restored without its author.")
    policy.require_permission(actor, policy.may_write_posts_of(actor, author.user_id), "restore this post")
    post = Post(id=last.id, **{field.attname: getattr(last, field.attname) for field in list_versioned_fields()})
    if post.status == PostStatus.SCHEDULED and post.publish_at is not None and post.publish_at <= timezone.now():
        post.status, post.publish_at = PostStatus.DRAFT, None
    may_transition = policy.may_transition_posts_of(actor, author.user_id, PostStatus.DRAFT, post.status)
    policy.require_permission(actor, may_transition, f"restore this {post.status} post")
    post.version, post.updated_at = last.version + 1, timezone.now()
    post.created_at = min(post.created_at, post.updated_at)  # earlier imports stored dates in the future
    services.attribute_change(post, actor)
    post.save(force_insert=True)
    restore_rows(Comment, DeletedComment.objects.filter(author__in=Author.objects.all()), last)
    known = PostSource.objects.filter(source=OuterRef("source"), path=OuterRef("path"))  # imported again
    restore_rows(PostSource, DeletedPostSource.objects.exclude(Exists(known)), last)
    states = {"to": str(post.status)}
    record_event(Event.POST_RESTORED, actor, "post", post.pk, **states)
    return post


def list_versioned_fields() -> list[Any]:
    return [Post._meta.get_field(name) for name in VERSIONED]  # noqa: SLF001 - a public name of Django


def restore_rows(model: type[Model], deleted: QuerySet[Any], post: PostVersion) -> None:
    """Insert the rows that were deleted in the same transaction as a post, with their ids."""
    names = [field.attname for field in model._meta.concrete_fields]  # noqa: SLF001
    rows = deleted.filter(post=post.id, pgh_created_at=post.pgh_created_at).values(*names)
    model._default_manager.bulk_create((model(**row) for row in rows), batch_size=BATCH)  # noqa: SLF001


def purge_history(*, actor: Actor) -> int:
    """Delete the history of the posts that were deleted more than 30 days ago, and older deleted comments.

    Returns the number of posts. Each batch is a transaction of its own. The history of existing posts is kept.
    """
    policy.require_permission(actor, policy.may_purge_history(actor), "delete the history of posts")
    end = timezone.now() - KEPT_FOR
    for model in (DeletedComment, DeletedPostSource):
        expired = model.objects.filter(pgh_created_at__lt=end).values("pgh_id")[:BATCH]
        while model.objects.filter(pgh_id__in=expired).delete()[0]:
            pass
    posts = Post.objects.filter(pk=OuterRef("id"))
    recent = PostVersion.objects.filter(id=OuterRef("id"), pgh_created_at__gte=end)
    deleted = PostVersion.objects.filter(pgh_label="delete", pgh_created_at__lt=end)
    deleted = deleted.exclude(Exists(posts)).exclude(Exists(recent)).order_by("pgh_id").values_list("id", flat=True)
    purged = set[int]()
    while ids := list(deleted[:BATCH]):
        PostVersion.objects.filter(id__in=ids).delete()
        purged |= set(ids)
    if purged:
        record_event(Event.POST_HISTORY_PURGED, actor, posts=len(purged))
    return len(purged)


def build_version(row: Mapping[str, Any], names: Mapping[int, str], older: Sequence[Mapping[str, Any]] = ()) -> Version:
    """Return the version of a row. `older` are the rows before it, the newest first; none if they are not read."""
    made = Change(row["changed_at"] or row["updated_at"], name_person(row["changed_by"], names), row["changed_with"])
    deletion = build_deletion(row, names) if row.get("pgh_label") == "delete" else None
    is_restored = bool(older) and older[0].get("pgh_label") == "delete"
    changed_fields = list_changed_fields(row, older)
    return Version(row["version"], row, made, "pgh_label" not in row, deletion, changed_fields, is_restored)


def build_deletion(row: Mapping[str, Any], names: Mapping[int, str]) -> Change:
    context = row["pgh_context"] or {}
    person = name_person(context.get("changed_by"), names)
    return Change(row["pgh_created_at"], person, context.get("changed_with", DATABASE))


def list_changed_fields(row: Mapping[str, Any], older: Sequence[Mapping[str, Any]]) -> list[str] | None:
    """Return the fields in which a version differs from the one before; None if there is no older row."""
    if not older:
        return None
    columns = {"body": "body_digest", "author": "author_id"}
    return [name for name in VERSIONED if row[columns.get(name, name)] != older[0][columns.get(name, name)]]


def name_users(rows: Iterable[Mapping[str, Any]]) -> dict[int, str]:
    """Return the names of the users who changed or deleted these versions. A deleted user has no name."""
    ids = [(row["changed_by"], (row.get("pgh_context") or {}).get("changed_by")) for row in rows]
    users = get_user_model().objects.filter(pk__in={user_id for pair in ids for user_id in pair if user_id is not None})
    return dict(users.values_list("pk", F("name")))


def name_person(user_id: int | None, names: Mapping[int, str]) -> str:
    return "" if user_id is None else names.get(user_id, f"deleted user {user_id}")
