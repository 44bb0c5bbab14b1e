"""Queries of preview links, and of the posts that a preview token shows with unpublished texts.

A token lets its caller read one post that may be hidden. Only reads of that post show it: lists, counts and searches
stay as they are without the token. A token of the mode `site` has the reads of its maker, who is an editor, and shows
the working copies in lists too.
"""

from django.contrib.auth import get_user_model
from django.db.models import Expression, OuterRef, QuerySet, Subquery, TextField
from django.db.models.functions import Coalesce, Now

from blog.models import CONTENT, RENDERED_TEXTS, Post, PreviewLink
from contentapi.core import policy
from contentapi.core.identity import Actor
from contentapi.core.pagination import Position, parse_id
from contentapi.db.literals import TextLiteral
from contentapi.projection import NEWEST_FIRST, Computed, Projection, Rows, ToOne, parametrised, replace_columns

PREVIEWED = [*CONTENT, *RENDERED_TEXTS]  # the columns that a preview replaces


def show_previewed_list(posts: QuerySet[Post], actor: Actor) -> QuerySet[Post]:
    """Return the posts of a list with the texts of a preview of the whole site. Other previews change no list."""
    return posts if actor.preview is None or not actor.preview.is_site else show_previewed_texts(posts, actor)


def show_previewed_texts(posts: QuerySet[Post], actor: Actor) -> QuerySet[Post]:
    """Return the posts with the texts of the actor's preview. Its rendered texts are those of the present version."""
    if actor.preview is None:
        return posts
    return replace_columns(posts, actor.preview.texts, PREVIEWED, {"rendered_version": "version"})


def filter_previewed_posts(posts: QuerySet[Post], actor: Actor) -> QuerySet[Post]:
    return show_previewed_texts(posts.filter(policy.readable_posts(actor)), actor)


def select_previewed_posts(actor: Actor) -> QuerySet[Post]:
    """Return the posts that a preview can show with a text of its own, which can have another slug than the post."""
    preview = actor.preview
    assert preview is not None  # noqa: S101 - for the type checker
    posts = Post.objects.all() if preview.is_site else Post.objects.filter(pk=preview.post_id)
    return filter_previewed_posts(posts, actor)


def select_newest_valid_links(links: QuerySet[PreviewLink], actor: Actor) -> QuerySet[PreviewLink]:
    return links.filter(policy.visible_preview_links(actor), expires_at__gt=Now()).order_by("-created_at", "-id")


def build_maker_name(_: Actor) -> Expression:
    """Return the name of the user who has created a preview link; empty if the account was deleted."""
    return build_user_name("maker_id")


def build_user_name(column: str) -> Expression:
    names = get_user_model().objects.filter(pk=OuterRef(column)).values("name")
    return Coalesce(Subquery(names), TextLiteral(""), output_field=TextField())


@parametrised(PreviewLink)
def select_preview(actor: Actor) -> QuerySet[PreviewLink]:
    """Return the link of the actor's preview token; no row without one."""
    preview = actor.preview
    return PreviewLink.objects.none() if preview is None else PreviewLink.objects.filter(pk=preview.link_id)


def find_previewed_post(actor: Actor) -> Post | None:
    """Return the post of the actor's preview link, with the texts that the link shows."""
    preview = actor.preview
    if preview is None:
        return None
    return filter_previewed_posts(Post.objects.filter(pk=preview.post_id), actor).select_related("author").first()


def select_link_by_id(actor: Actor, link_id: str) -> Rows[PreviewLink]:
    """Return the valid link with this id, if the actor may edit its post."""
    return select_visible_link(actor, pk=parse_id(link_id))


@parametrised(PreviewLink)
def select_visible_link(actor: Actor, *, pk: int) -> QuerySet[PreviewLink]:
    visible = policy.visible_preview_links(actor)
    if visible is policy.NEVER:  # the statement of a node then looks for no link
        return PreviewLink.objects.none()
    return PreviewLink.objects.filter(visible, pk=pk, expires_at__gt=Now())


def select_preview_links(actor: Actor, post_id: str, after: Position | None = None) -> Rows[PreviewLink]:
    """Return the valid links of a post, the newest first, from after a position, if the actor may edit the post."""
    return select_valid_links(actor, post=parse_id(post_id), after=after and after.value, after_pk=after and after.id)


@parametrised(PreviewLink)
def select_valid_links(actor: Actor, *, post: int, after: str | None, after_pk: int | None) -> QuerySet[PreviewLink]:
    links = select_newest_valid_links(PreviewLink.objects.filter(post=post), actor)
    return links if after is None else links.filter(NEWEST_FIRST.beyond(after, after_pk))


def select_post_with_links(actor: Actor, post_id: str) -> Rows[Post]:
    """Return the post with this id, if the actor may see its preview links."""
    return select_previewable_post(actor, pk=parse_id(post_id))


@parametrised(Post)
def select_previewable_post(actor: Actor, *, pk: int) -> QuerySet[Post]:
    return Post.objects.filter(policy.previewable_posts(actor), pk=pk)


PREVIEW_LINK = Projection(
    "PreviewLink",
    PreviewLink,
    {
        "id": "id",
        "mode": "mode",
        "version": "version",
        "note": "note",
        "createdAt": "created_at",
        "createdBy": Computed(build_maker_name),
        "expiresAt": "expires_at",
    },
)

PREVIEW = Projection(
    "Preview",
    PreviewLink,
    {"post": ToOne("post", filter_previewed_posts), "mode": "mode", "version": "version", "expiresAt": "expires_at"},
)
