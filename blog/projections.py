"""Projections of posts, authors and comments: how each field of the SDL is read."""

from typing import cast

from django.contrib.auth import get_user_model
from django.contrib.postgres.fields import ArrayField
from django.db.models import Case, Expression, Func, OuterRef, Q, QuerySet, Subquery, TextField, Value, When
from django.db.models.functions import Cast, Coalesce, Concat, NullIf

from blog.models import (
    CONTENT_FIELDS,
    Author,
    Comment,
    CommentQuerySet,
    ContentField,
    Kind,
    Post,
    PostQuerySet,
    PostStatus,
    WorkingCopy,
)
from contentapi.conf import conf
from contentapi.core import policy
from contentapi.core.identity import Actor
from contentapi.db.literals import TextLiteral
from contentapi.projection import (
    NEWEST_FIRST,
    OLDEST_FIRST,
    Computed,
    Connection,
    ConnectionType,
    Count,
    Ordering,
    Projection,
    RawExpression,
    RelayType,
    SameRowAsType,
    ToMany,
    ToOne,
    filter_by_union,
)

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
AUTHOR_SORT_FIELDS = {"name": Ordering("name"), "createdAt": OLDEST_FIRST}
COMMENT_ORDERS = {"createdAtAsc": OLDEST_FIRST, "createdAtDesc": NEWEST_FIRST}


def filter_visible_comments(comments: CommentQuerySet, _: Actor) -> QuerySet[Comment]:
    return comments.filter(policy.VISIBLE_COMMENTS)


def select_oldest_visible_comments(comments: CommentQuerySet, actor: Actor) -> QuerySet[Comment]:
    return filter_visible_comments(comments, actor).order_by("created_at", "id")


def filter_visible_posts(posts: PostQuerySet, actor: Actor, *, status: PostStatus | None) -> PostQuerySet:
    """Return the posts that the actor may see, with one status if it is given."""
    if status is not None:
        return posts.filter(policy.build_visibility_within_status(actor, status)).in_status(status)
    return cast("PostQuerySet", filter_by_union(posts, policy.split_visible_posts(actor)))


def select_newest_visible_posts(posts: PostQuerySet, actor: Actor, *, status: PostStatus | None) -> QuerySet[Post]:
    return filter_visible_posts(posts, actor, status=status).newest_first()


def build_visible_email(actor: Actor) -> Expression:
    seen = policy.visible_author_emails(actor) & Q(pk__isnull=False)  # WHEN takes no empty condition
    return Case(When(seen, then=NullIf("email", Value(""))))


def build_slug(_: Actor) -> Expression:
    """Return the slug; that of the id for a post to which the worker has not given one yet."""
    return Coalesce("slug", Concat(TextLiteral("post-"), Cast("id", TextField())), output_field=TextField())


def build_url(actor: Actor) -> Expression:
    """Return the address of a post on the web site; null without the setting."""
    start, _, end = conf.environment.contentapi_site_post_url.partition("{slug}")
    address = Concat(TextLiteral(start), build_slug(actor), TextLiteral(end), output_field=TextField())
    return address if start else RawExpression("NULL::text", TextField())


def filter_visible_working_copies(copies: QuerySet[WorkingCopy], actor: Actor) -> QuerySet[WorkingCopy]:
    return copies.filter(policy.visible_working_copies(actor))


def project_copied_field(field: ContentField) -> Computed:
    """Return a field of a working copy, as JSON; that of the post if the copy was saved before there was this field.

    COALESCE("blog_workingcopy"."content" -> 'title', to_jsonb("blog_post"."title"))
    """
    column = ArrayField(TextField()) if field.kind == Kind.WORDS else TextField()
    template, joiner = "COALESCE(%(expressions)s))", f" -> '{field.name}', to_jsonb("
    value = Func("content", f"post__{field.name}", template=template, arg_joiner=joiner, output_field=column)
    return Computed(lambda _: value)


def build_saver_name(_: Actor) -> Expression:
    """Return the name of the user who has saved a working copy; empty if there is none."""
    names = get_user_model().objects.filter(pk=OuterRef("updated_by")).values("name")
    return Coalesce(Subquery(names), TextLiteral(""), output_field=TextField())


POST = Projection(
    "Post",
    Post,
    {
        "id": "id",
        "title": "title",
        "slug": Computed(build_slug),
        "url": Computed(build_url),
        "canonicalUrl": "canonical_url",
        "body": "body",
        "status": "status",
        "author": ToOne("author"),
        "comments": ToMany("comments", select_oldest_visible_comments),
        "commentsConnection": Connection("comments", filter_visible_comments),
        "commentCount": Count("comments", policy.VISIBLE_COMMENTS),
        "createdAt": "created_at",
        "updatedAt": "updated_at",
        "publishAt": "publish_at",
        "publishedAt": "published_at",
        "tags": "tags",
        "version": "version",
        "workingCopy": ToOne("working_copy", filter_visible_working_copies),
    },
)

WORKING_COPY = Projection(
    "WorkingCopy",
    WorkingCopy,
    {
        **{field.api_name: project_copied_field(field) for field in CONTENT_FIELDS},
        "publishAt": "publish_at",
        "baseVersion": "base_version",
        "version": "version",
        "updatedAt": "updated_at",
        "updatedBy": Computed(build_saver_name),
    },
)

AUTHOR = Projection(
    "Author",
    Author,
    {
        "id": "id",
        "name": "name",
        "bio": "bio",
        "avatarUrl": "avatar_url",
        "email": Computed(build_visible_email),
        "posts": ToMany("posts", select_newest_visible_posts),
        "postsConnection": Connection("posts", filter_visible_posts),
    },
)

COMMENT = Projection(
    "Comment",
    Comment,
    {
        "id": "id",
        "body": "body",
        "author": ToOne("author"),
        "createdAt": "created_at",
    },
)

POST_CONNECTION = ConnectionType(POST)
COMMENT_CONNECTION = ConnectionType(COMMENT)
AUTHOR_CONNECTION = ConnectionType(AUTHOR)

PROJECTIONS: list[Projection | RelayType] = [
    WORKING_COPY,
    Projection("SaveWorkingCopyPayload", WorkingCopy, {"workingCopy": SameRowAsType()}),
    *(Projection(f"{act}WorkingCopyPayload", Post, {"post": SameRowAsType()}) for act in ("Publish", "Discard")),
    *(POST, POST_CONNECTION, POST_CONNECTION.edge),
    *(COMMENT, COMMENT_CONNECTION, COMMENT_CONNECTION.edge),
    *(AUTHOR, AUTHOR_CONNECTION, AUTHOR_CONNECTION.edge),
]
