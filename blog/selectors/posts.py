"""Reads of posts and their working copies."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, Self, cast

from django.contrib.auth import get_user_model
from django.db.models import F, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from blog import policy
from blog.models import MAX_TAG, POST_OWN, Post, PostQuerySet, PostStatus, PostVersion, WorkingCopy
from blog.models.slugs import SLUG, OldSlug
from blog.projections.rows import filter_previewed_posts, select_listed_posts, show_previewed_list, show_previewed_texts
from blog.search.query import RELEVANCE, find_posts, parse_search
from contentapi.core.errors import Malformed
from contentapi.core.identity import Actor
from contentapi.core.pagination import Position, parse_connection_args, parse_id, require_page_size
from contentapi.db.distribution import is_distributed
from contentapi.db.expressions import IsInArray
from contentapi.projection import (
    NEWEST_FIRST,
    OLDEST_FIRST,
    Branch,
    ConnectionQuery,
    Ordering,
    Rows,
    filter_by_union,
    parametrised,
)
from contentapi.types.own_values import match_own_fields, parse_own_filters

POST_ORDERS = {
    "createdAtDesc": NEWEST_FIRST,
    "createdAtAsc": OLDEST_FIRST,
    "updatedAtDesc": Ordering("updated_at", descending=True),
    "updatedAtAsc": Ordering("updated_at"),
    "publishedAtDesc": Ordering("publication_order", descending=True),
    "publishedAtAsc": Ordering("publication_order"),
}
# Of one author's posts: other fields need an index that begins with the author.
POST_SORT_FIELDS = {"createdAt": OLDEST_FIRST}
# The criteria that are conditions on a column. The search index (`PostSearch`) has a copy of each of these columns.
LOOKUPS = {"author": "author", "created_from": "created_at__gte", "created_before": "created_at__lt"}


class PostCriteria(NamedTuple):
    """Conditions on posts; None is none. `LOOKUPS` has those on a column, `own` those on own fields."""

    status: PostStatus | None = None
    tag: str | None = None
    author: int | None = None
    created_from: datetime | None = None
    created_before: datetime | None = None
    search: list[str] | None = None
    own: Mapping[str, str] = {}

    @classmethod
    def parse(cls, **values: Any) -> Self:
        """Parse the values that a client sent. Raises `Malformed`."""
        for name, parse in PARSERS.items():
            if values.get(name) is not None:
                values[name] = parse(values[name])
        return cls(own=parse_own_filters(POST_OWN, values), **values)  # which takes them out of the values


def parse_status(status: str) -> PostStatus:
    """Return the status with this name. Raises `Malformed`."""
    try:
        return PostStatus(status)
    except ValueError:
        raise Malformed(f"status must be one of {', '.join(PostStatus.values)}.") from None


def validate_tag(tag: str) -> str:
    """Return the tag. Raises `Malformed` if it is too long: PostgreSQL would truncate it in the comparison."""
    if len(tag) > MAX_TAG:
        raise Malformed(f"tag must have at most {MAX_TAG} characters.")
    return tag


PARSERS = {"status": parse_status, "tag": validate_tag, "author": parse_id, "search": parse_search}


@parametrised(Post, pk=parse_id)
def select_post_by_id(actor: Actor, *, pk: int) -> QuerySet[Post]:
    """Return the post with this id, or no post."""
    return show_previewed_texts(Post.objects.filter(policy.readable_posts(actor), pk=pk), actor)


def select_post_by_slug(actor: Actor, slug: str) -> Rows[Post]:
    """Return the post that has this slug, or had it and nobody has it now; or no post."""
    found = select_visible_post_by_slug(actor, slug=slug if SLUG.fullmatch(slug) else "")
    if actor.preview is None or not is_distributed():
        return found
    # Fields with rows of their own, such as oldSlugs, are refused if this post and its texts are found together.
    return select_post_by_id(actor, str(found.queryset().values_list("pk", flat=True).first() or 0))


@parametrised(Post)
def select_visible_post_by_slug(actor: Actor, *, slug: str) -> QuerySet[Post]:
    present = Subquery(Post.objects.filter(slug=slug).values("pk"))
    old = Subquery(OldSlug.objects.filter(slug=slug).values("post_id"))
    found = Coalesce(present, old)
    if actor.preview is not None:
        found = Coalesce(Subquery(select_previewed_posts(actor).filter(slug=slug).values("pk")[:1]), found)
    return show_previewed_texts(Post.objects.filter(policy.readable_posts(actor), pk=found), actor)


def select_previewed_posts(actor: Actor) -> QuerySet[Post]:
    """Return the posts that a preview can show with a text of its own, which can have another slug than the post."""
    preview = actor.preview
    assert preview is not None  # noqa: S101 - for the type checker
    posts = Post.objects.all() if preview.is_site else Post.objects.filter(pk=preview.post_id)
    return filter_previewed_posts(posts, actor)


def find_present_slug(actor: Actor, slug: str) -> str | None:
    """Return the slug of the post that this slug leads to; None if there is none that the actor may see."""
    return next(iter(select_post_by_slug(actor, slug).queryset().values_list("slug", flat=True)), None)


@parametrised(WorkingCopy, pk=parse_id)
def select_working_copy(actor: Actor, *, pk: int) -> QuerySet[WorkingCopy]:
    """Return the working copy of the post with this id, or none."""
    return WorkingCopy.objects.filter(policy.visible_working_copies(actor), pk=pk)


def select_posts(actor: Actor, criteria: PostCriteria, after: Position | None = None) -> Rows[Post]:
    """Return the posts that meet the criteria, from after a position: newest first, or a search by relevance."""
    values = {**criteria._asdict(), "after": after}
    text = values.pop("search")
    values |= values.pop("own")
    return select_visible_posts(actor, **values) if text is None else select_found_posts(actor, search=text, **values)


def select_newest_posts(actor: Actor, *, status: str | None = None, limit: int | None = None) -> Rows[Post]:
    """Return the newest posts, 10 by default, with one status if it is given. Raises `Malformed`."""
    criteria = PostCriteria(None if status is None else parse_status(status))
    return select_posts(actor, criteria)[: require_page_size(limit, default=10)]


@parametrised(Post)
def select_visible_posts(
    actor: Actor,
    *,
    status: PostStatus | None,
    tag: str | None,
    after: str | None,
    author: int | None,
    after_pk: int | None = None,
    **criteria: Any,
) -> QuerySet[Post]:
    conditions = build_lookups(criteria) & match_own_fields(POST_OWN, criteria)
    if tag is not None:
        conditions &= Q(tags__contains=[tag])
    posts = select_listed_posts(actor, status=status, author=author).filter(conditions)
    return posts.filter(build_after_condition(NEWEST_FIRST, after, after_pk)).newest_first()


@parametrised(Post, order=RELEVANCE)
def select_found_posts(
    actor: Actor,
    *,
    search: list[str],
    status: PostStatus | None,
    tag: str | None,
    after: float | None,
    author: int | None,
    after_pk: int | None = None,
    **criteria: Any,
) -> QuerySet[Post]:
    conditions = build_lookups(criteria) & build_author_condition(author)
    own = match_own_fields(POST_OWN, criteria), match_own_fields(POST_OWN, criteria, F("post__own"))
    found = find_posts(actor, search, status=status, tag=tag, conditions=conditions, own=own)
    posts = show_previewed_list(found, actor)
    return posts.filter(build_after_condition(RELEVANCE, after, after_pk)).order_by(*RELEVANCE.terms())


def build_lookups(criteria: Mapping[str, Any]) -> Q:
    return Q(**{LOOKUPS[name]: value for name, value in criteria.items() if name in LOOKUPS and value is not None})


def build_author_condition(author: Any) -> Q:
    """Return the condition on the posts by an author, alone or with others; no condition without one."""
    return Q() if author is None else Q(author=author) | Q(IsInArray(author, F("coauthor_ids")))


def build_after_condition(order: Ordering, value: str | float | None, pk: int | None) -> Q:
    """Return the condition on rows after a position in an order; no condition without a position."""
    return Q() if value is None else order.beyond(value, pk)


def build_posts_connection(actor: Actor, *, order_by: Ordering | None = None, **arguments: Any) -> ConnectionQuery:
    """Return a page of the posts that meet the argument `filter`: by `first` and `after`, or by `last` and `before`.

    `filter` has the values that a client sent. Without an order, a search is ordered by relevance, and other posts
    newest first. Cursors are valid for the same filter and order only. Raises `Malformed`.
    """
    sent: Mapping[str, Any] = arguments.pop("filter", None) or {}
    given = {name: value for name, value in sorted(sent.items()) if value is not None}
    posts = select_posts(actor, PostCriteria.parse(**given))
    order = order_by or posts.order or NEWEST_FIRST
    cursor_scope = {**{name: str(value) for name, value in given.items()}, "orderBy": order.terms()}
    return ConnectionQuery(posts, order, parse_connection_args("postsConnection", cursor_scope, **arguments))


def select_editable_posts(actor: Actor) -> PostQuerySet:
    """Return the posts that the actor may change."""
    return Post.objects.filter(policy.editable_posts(actor))


def select_written_posts(actor: Actor) -> PostQuerySet:
    """Return the posts that the actor may change, and those that the actor has written with their authors."""
    if policy.may_manage_posts_and_authors(actor) or not policy.may_write_posts(actor):
        return select_editable_posts(actor)
    return filter_posts_by_writer(Post.objects.all(), policy.select_author_id(actor.user_id or 0))


def filter_posts_by_writer(posts: PostQuerySet, author: Any) -> PostQuerySet:
    """Return those of the posts that an author has written, alone or with others. `author` may be a subquery."""
    joint = Branch(Post.objects.filter(coauthorships__author=author))
    return cast("PostQuerySet", filter_by_union(posts, [Q(author=author), joint], build_author_condition(author)))


def find_post(actor: Actor, post_id: str, *deferred: str) -> Post | None:
    """Return the post with this id, if the actor may see it, without the columns that are deferred."""
    posts = select_post_by_id(actor, post_id).queryset().select_related("author").defer(*deferred)
    return next(iter(posts), None)


def find_locked_scheduler(row: Post | WorkingCopy) -> str | None:
    """Return who gave a post or a working copy its time, if the account is locked: it is not published then."""
    pk = row.scheduled_by if isinstance(row, WorkingCopy) else find_scheduler(row)
    return get_user_model().objects.filter(pk=pk or 0, is_active=False).values_list("name", flat=True).first()


def find_scheduler(post: Post) -> int | None:
    """Return the id of the person who made a post scheduled: of the first version after those that were not."""
    versions = PostVersion.objects.filter(id=post.pk)
    unscheduled = versions.exclude(status=PostStatus.SCHEDULED).order_by("-version").values_list("version", flat=True)
    since = versions.filter(version__gt=unscheduled.first() or 0).order_by("version")
    first: tuple[int | None] | None = since.values_list("changed_by").first()
    return post.changed_by if first is None else first[0]
