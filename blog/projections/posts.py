"""Projections of posts, authors and comments: how each field of the SDL is read."""

from django.contrib.auth import get_user_model
from django.contrib.postgres.fields import ArrayField
from django.db.models import Case, Expression, Func, JSONField, OuterRef, Q, QuerySet, Subquery, TextField, Value, When
from django.db.models.functions import Cast, Coalesce, Concat, Now, NullIf

from blog import models, policy
from blog.models import AUTHOR_OWN, POST_OWN
from blog.projections.images import annotate_place, select_images_of_text
from blog.projections.rows import BYLINE, filter_previewed_posts, select_visible_posts_of
from contentapi.conf import conf
from contentapi.core.identity import Actor
from contentapi.db.expressions import TextLiteral
from contentapi.projection import (
    Computed,
    Connection,
    ConnectionType,
    Count,
    Listed,
    Projection,
    RawExpression,
    Referred,
    RelayType,
    SameRowAsType,
    ToMany,
    ToOne,
)
from contentapi.types.own_values import project_own_fields


def select_oldest_visible_comments(comments: models.CommentQuerySet, _: Actor) -> QuerySet[models.Comment]:
    return comments.filter(policy.VISIBLE_COMMENTS).oldest_first()


def select_newest_posts_of_author(
    _: models.PostQuerySet, actor: Actor, *, status: models.PostStatus | None
) -> QuerySet[models.Post]:
    return select_visible_posts_of(OuterRef("pk"), actor, status=status).newest_first()


def build_visible_email(actor: Actor) -> Expression:
    seen = policy.visible_author_emails(actor) & Q(pk__isnull=False)  # WHEN takes no empty condition
    return Case(When(seen, then=NullIf("email", Value(""))))


def build_slug(_: Actor) -> Expression:
    """Return the slug; that of the id for a post to which the worker has not given one yet."""
    return Coalesce("slug", Concat(TextLiteral("post-"), Cast("id", TextField())), output_field=TextField())


def build_if_rendered(column: str) -> Expression:
    """Return a column of `RENDERED_TEXTS`; null while it is that of an earlier version."""
    return Case(When(models.posts.IS_RENDERED, then=column))


def build_summary(name: str) -> Expression:
    """Return the own text of the post, or the default one; an empty text until there is one."""
    empty = TextLiteral("")
    return Coalesce(NullIf(name, empty), build_if_rendered(f"default_{name}"), empty, output_field=TextField())


def build_url(actor: Actor) -> Expression:
    """Return the address of a post on the web site; null without the setting."""
    start, _, end = conf.environment.contentapi_site_post_url.partition("{slug}")
    address = Concat(TextLiteral(start), build_slug(actor), TextLiteral(end), output_field=TextField())
    return address if start else RawExpression("NULL::text", TextField())


def select_newest_valid_links(links: QuerySet[models.PreviewLink], actor: Actor) -> QuerySet[models.PreviewLink]:
    return links.filter(policy.visible_preview_links(actor), expires_at__gt=Now()).order_by("-created_at", "-id")


def project_copied_field(field: models.ContentField) -> Computed:
    """Return a field of a working copy, as JSON; that of the post if the copy was saved before there was this field.

    COALESCE("blog_workingcopy"."content" -> 'title', to_jsonb("blog_post"."title"))

    A summary is the own text, or empty: the default text is made when the text becomes that of the post.
    """
    column = ArrayField(TextField()) if field.kind == models.Kind.WORDS else TextField()
    template, joiner = "COALESCE(%(expressions)s))", f" -> '{field.name}', to_jsonb("
    if field.kind in (models.Kind.IMAGE, models.Kind.IMAGE_TEXT):  # the text of an id, and null
        template = f"{template} #>> '{{}}'"
    if field.kind == models.Kind.SUMMARY:
        template = f"COALESCE(NULLIF({template}, 'null'), '\"\"')"
    value = Func("content", f"post__{field.name}", template=template, arg_joiner=joiner, output_field=column)
    return Computed(lambda _: value)


# The own fields of a working copy, and those of the post if the copy was saved before there was this column
COPIED_OWN = Func(
    "content", "post__own", template="COALESCE(%(expressions)s)", arg_joiner=" -> 'own', ", output_field=JSONField()
)


def build_user_name(column: str) -> Expression:
    """Return the name of the user whose id is in a column; empty if there is none, or the account was deleted."""
    names = get_user_model().objects.filter(pk=OuterRef(column)).values("name")
    return Coalesce(Subquery(names), TextLiteral(""), output_field=TextField())


POST = Projection(
    "Post",
    models.Post,
    {
        "slug": Computed(build_slug),
        "oldSlugs": Computed(lambda _: models.build_old_slugs()),
        "url": Computed(build_url),
        "excerpt": Computed(lambda _: build_summary("excerpt")),
        "description": Computed(lambda _: build_summary("description")),
        "bodyHtml": Computed(lambda _: build_if_rendered("body_html")),
        "author": ToOne("author"),
        "coauthors": Listed("coauthor_ids"),
        "cover": Referred("cover_id", lambda images: annotate_place(images, OuterRef("cover_alt"))),
        "images": Listed("image_ids", select_images_of_text),
        "comments": ToMany("comments", select_oldest_visible_comments),
        "commentsConnection": Connection("comments", select_oldest_visible_comments),
        "commentCount": Count("comments", policy.VISIBLE_COMMENTS),
        "workingCopy": ToOne("working_copy", lambda copies, actor: copies.filter(policy.visible_working_copies(actor))),
        "previewLinks": ToMany("preview_links", select_newest_valid_links),
        **project_own_fields(POST_OWN),
    },
)

WORKING_COPY = Projection(
    "WorkingCopy",
    models.WorkingCopy,
    {
        **{field.api_name: project_copied_field(field) for field in models.CONTENT_FIELDS},
        **project_own_fields(POST_OWN, COPIED_OWN),
        "updatedBy": Computed(lambda _: build_user_name("updated_by")),
    },
)

MAKER = {"createdBy": Computed(lambda _: build_user_name("maker_id"))}
PREVIEW_LINK = Projection("PreviewLink", models.PreviewLink, MAKER)
PREVIEW = Projection("Preview", models.PreviewLink, {"post": ToOne("post", filter_previewed_posts)})

AUTHOR = Projection(
    "Author",
    models.Author,
    {
        "email": Computed(build_visible_email),
        "posts": ToMany("posts", select_newest_posts_of_author),
        "postsConnection": Connection("posts", select_newest_posts_of_author, key=BYLINE),
        **project_own_fields(AUTHOR_OWN),
    },
)

COMMENT = Projection("Comment", models.Comment, {"author": ToOne("author")})

POST_CONNECTION = ConnectionType(POST)
COMMENT_CONNECTION = ConnectionType(COMMENT)
AUTHOR_CONNECTION = ConnectionType(AUTHOR)

PROJECTIONS: list[Projection | RelayType] = [
    WORKING_COPY,
    Projection("SaveWorkingCopyPayload", models.WorkingCopy, {"workingCopy": SameRowAsType()}),
    *(Projection(f"{act}WorkingCopyPayload", models.Post, {"post": SameRowAsType()}) for act in ("Publish", "Discard")),
    *(PREVIEW_LINK, PREVIEW),
    *(POST, POST_CONNECTION, POST_CONNECTION.edge),
    *(COMMENT, COMMENT_CONNECTION, COMMENT_CONNECTION.edge),
    *(AUTHOR, AUTHOR_CONNECTION, AUTHOR_CONNECTION.edge),
]
