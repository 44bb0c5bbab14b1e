"""Projections of posts, authors and comments: how each field of the SDL is read."""

from typing import Any, cast

from django.contrib.postgres.fields import ArrayField
from django.db.models import Case, Expression, F, Func, OuterRef, Q, QuerySet, TextField, Value, When
from django.db.models.functions import Cast, Coalesce, Concat, NullIf
from django.db.models.lookups import Exact

from blog.models import (
    CONTENT_FIELDS,
    IS_RENDERED,
    Author,
    Comment,
    CommentQuerySet,
    ContentField,
    Image,
    Kind,
    Post,
    PostQuerySet,
    PostStatus,
    WorkingCopy,
    build_old_slugs,
)
from blog.previews import PREVIEW, PREVIEW_LINK, build_user_name, select_newest_valid_links, show_previewed_list
from contentapi.conf import conf
from contentapi.core import policy
from contentapi.core.identity import Actor
from contentapi.db.arrays import ArrayItem, IsInArray
from contentapi.db.literals import TextLiteral
from contentapi.projection import (
    NEWEST_FIRST,
    OLDEST_FIRST,
    Branch,
    Computed,
    Connection,
    ConnectionType,
    Count,
    Listed,
    Ordering,
    Projection,
    RawExpression,
    Referred,
    RelayType,
    SameRowAsType,
    ToMany,
    ToOne,
    UnionColumn,
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
BYLINE = UnionColumn("byline")  # the author by whom a list has a post
# A list of the posts that an author has written with others is read in the order of this table.
BY_COAUTHORSHIP = {"id": "coauthorships__post_id", "created_at": "coauthorships__created_at"}
COMMENT_ORDERS = {"createdAtAsc": OLDEST_FIRST, "createdAtDesc": NEWEST_FIRST}


def filter_visible_comments(comments: CommentQuerySet, _: Actor) -> QuerySet[Comment]:
    return comments.filter(policy.VISIBLE_COMMENTS)


def select_oldest_visible_comments(comments: CommentQuerySet, actor: Actor) -> QuerySet[Comment]:
    return filter_visible_comments(comments, actor).order_by("created_at", "id")


def select_visible_posts(actor: Actor, *, status: PostStatus | None, author: Any = None) -> PostQuerySet:
    """Return the posts that the actor may see, with one status, and by one author, if they are given."""
    if author is not None:
        return select_visible_posts_of(author, actor, status=status)
    visible = policy.split_visible_posts(actor, status)
    posts = filter_by_union(Post.objects.all(), list_parts(visible), visible.condition)
    return cast("PostQuerySet", show_previewed_list(posts, actor)).in_status(status)


def list_parts(visible: policy.VisiblePosts) -> list[Q | Branch]:
    """Return the visible posts as parts of a union, each of which an index has in the order of lists."""
    if visible.coauthor is None:
        return [*visible.conditions]
    hidden = Post.objects.filter(coauthorships__author=visible.coauthor, coauthorships__is_public=False)
    return [*visible.conditions, Branch(hidden, BY_COAUTHORSHIP)]


def select_visible_posts_of(author: Any, actor: Actor, *, status: PostStatus | None) -> PostQuerySet:
    """Return the posts that an author has written, alone or with others, and that the actor may see.

    `author` is an id, or an expression for one. Each part of the union has it in the column `byline`.
    """
    visible = policy.split_visible_posts(actor, status)
    found = [Branch(Post.objects.filter(part)) if isinstance(part, Q) else part for part in list_parts(visible)]
    written = [branch._replace(extra={"byline": "author_id"}) for branch in found]
    joint = [
        Post.objects.filter(visible.condition, coauthorships__is_public=is_public)
        for is_public in list_coauthorship_states(visible, status)
    ]
    coauthored = [Branch(rows, BY_COAUTHORSHIP, {"byline": "coauthorships__author_id"}) for rows in joint]
    posts = filter_by_union(Post.objects.all(), [*written, *coauthored], visible.condition)
    shown = show_previewed_list(posts, actor)
    return cast("PostQuerySet", shown.filter(Exact(BYLINE, author))).in_status(status)


def list_coauthorship_states(visible: policy.VisiblePosts, status: PostStatus | None) -> list[bool]:
    """Return whether co-authored posts are public, for each list of an author in the index of co-authorships."""
    if status is not None:
        return [status is PostStatus.PUBLISHED]
    return [True] if visible.condition == policy.PUBLIC_POSTS else [True, False]


def build_author_condition(author: Any) -> Q:
    """Return the condition on the posts by an author, alone or with others; no condition without one."""
    return Q() if author is None else Q(author=author) | Q(IsInArray(author, F("coauthor_ids")))


def select_newest_posts_of_author(_: PostQuerySet, actor: Actor, *, status: PostStatus | None) -> QuerySet[Post]:
    return select_visible_posts_of(OuterRef("pk"), actor, status=status).newest_first()


def select_posts_of_author(_: PostQuerySet, actor: Actor, *, status: PostStatus | None) -> QuerySet[Post]:
    return select_visible_posts_of(OuterRef("pk"), actor, status=status)


def build_visible_email(actor: Actor) -> Expression:
    seen = policy.visible_author_emails(actor) & Q(pk__isnull=False)  # WHEN takes no empty condition
    return Case(When(seen, then=NullIf("email", Value(""))))


def build_slug(_: Actor) -> Expression:
    """Return the slug; that of the id for a post to which the worker has not given one yet."""
    return Coalesce("slug", Concat(TextLiteral("post-"), Cast("id", TextField())), output_field=TextField())


def build_if_rendered(column: str) -> Expression:
    """Return a column of `RENDERED_TEXTS`; null while it is that of an earlier version."""
    return Case(When(IS_RENDERED, then=column))


def build_excerpt(_: Actor) -> Expression:
    return build_summary("excerpt", "default_excerpt")


def build_description(_: Actor) -> Expression:
    return build_summary("description", "default_description")


def build_summary(own: str, default: str) -> Expression:
    """Return the own text of the post, or the default one; an empty text until there is one."""
    empty = TextLiteral("")
    return Coalesce(NullIf(own, empty), build_if_rendered(default), empty, output_field=TextField())


def build_body_html(_: Actor) -> Expression:
    return build_if_rendered("body_html")


def build_url(actor: Actor) -> Expression:
    """Return the address of a post on the web site; null without the setting."""
    start, _, end = conf.environment.contentapi_site_post_url.partition("{slug}")
    address = Concat(TextLiteral(start), build_slug(actor), TextLiteral(end), output_field=TextField())
    return address if start else RawExpression("NULL::text", TextField())


def select_cover(images: QuerySet[Image]) -> QuerySet[Image]:
    return annotate_place(images, OuterRef("cover_alt"))


def select_images_of_text(images: QuerySet[Image]) -> QuerySet[Image]:
    return annotate_place(images, ArrayItem(OuterRef("image_alts"), F("place"), output_field=TextField()))


def annotate_place(images: QuerySet[Image], text: Any) -> QuerySet[Image]:
    """Return the images that are not deleted, with their texts in a place of a post, or else their own."""
    alt = Coalesce(NullIf(text, TextLiteral("")), "alt", output_field=TextField())
    return images.filter(deleted_at=None).annotate(place_alt=alt)


def filter_visible_working_copies(copies: QuerySet[WorkingCopy], actor: Actor) -> QuerySet[WorkingCopy]:
    return copies.filter(policy.visible_working_copies(actor))


def project_copied_field(field: ContentField) -> Computed:
    """Return a field of a working copy, as JSON; that of the post if the copy was saved before there was this field.

    COALESCE("blog_workingcopy"."content" -> 'title', to_jsonb("blog_post"."title"))

    A summary is the own text, or empty: the default text is made when the text becomes that of the post.
    """
    column = ArrayField(TextField()) if field.kind == Kind.WORDS else TextField()
    template, joiner = "COALESCE(%(expressions)s))", f" -> '{field.name}', to_jsonb("
    if field.kind in (Kind.IMAGE, Kind.IMAGE_TEXT):  # the text of an id, and null
        template = f"{template} #>> '{{}}'"
    if field.kind == Kind.SUMMARY:
        template = f"COALESCE(NULLIF({template}, 'null'), '\"\"')"
    value = Func("content", f"post__{field.name}", template=template, arg_joiner=joiner, output_field=column)
    return Computed(lambda _: value)


def build_saver_name(_: Actor) -> Expression:
    """Return the name of the user who has saved a working copy; empty if there is none."""
    return build_user_name("updated_by")


POST = Projection(
    "Post",
    Post,
    {
        "id": "id",
        "title": "title",
        "slug": Computed(build_slug),
        "oldSlugs": Computed(lambda _: build_old_slugs()),
        "url": Computed(build_url),
        "canonicalUrl": "canonical_url",
        "excerpt": Computed(build_excerpt),
        "description": Computed(build_description),
        "body": "body",
        "bodyHtml": Computed(build_body_html),
        "status": "status",
        "author": ToOne("author"),
        "coauthors": Listed("coauthor_ids"),
        "cover": Referred("cover_id", select_cover),
        "images": Listed("image_ids", select_images_of_text),
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
        "previewLinks": ToMany("preview_links", select_newest_valid_links),
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
        "posts": ToMany("posts", select_newest_posts_of_author),
        "postsConnection": Connection("posts", select_posts_of_author, key=BYLINE),
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
    *(PREVIEW_LINK, PREVIEW),
    *(POST, POST_CONNECTION, POST_CONNECTION.edge),
    *(COMMENT, COMMENT_CONNECTION, COMMENT_CONNECTION.edge),
    *(AUTHOR, AUTHOR_CONNECTION, AUTHOR_CONNECTION.edge),
]
