"""Reads of preview links, and of the post that a preview token shows with unpublished texts.

A token lets its caller read one post that may be hidden. Only reads of that post show it: lists, counts and searches
stay as they are without the token. A token of the mode `site` has the reads of its maker, who is an editor, and shows
the working copies in lists too.
"""

from django.db.models import QuerySet
from django.db.models.functions import Now

from blog import policy
from blog.models import Post, PreviewLink
from blog.projections import filter_previewed_posts, select_newest_valid_links
from contentapi.core.identity import Actor
from contentapi.core.pagination import Position, parse_id
from contentapi.core.policy import NEVER
from contentapi.projection import NEWEST_FIRST, Rows, parametrised


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
    if visible is NEVER:  # the statement of a node then looks for no link
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
