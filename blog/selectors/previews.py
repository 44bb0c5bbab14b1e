"""Reads of preview links, and of the post that a preview token shows with unpublished texts.

A token lets its caller read one post that may be hidden. Only reads of that post show it: lists, counts and searches
stay as they are without the token. A token of the mode `site` has the reads of its maker, who is an editor, and shows
the working copies in lists too.
"""

from django.db.models import QuerySet
from django.db.models.functions import Now

from blog import policy
from blog.models import Post, PreviewLink
from blog.projections.posts import select_newest_valid_links
from blog.projections.rows import filter_previewed_posts
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.core.policy import NEVER
from contentapi.projection import NEWEST_FIRST, parametrised


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


@parametrised(PreviewLink, pk=parse_id)
def select_link_by_id(actor: Actor, *, pk: int) -> QuerySet[PreviewLink]:
    """Return the valid link with this id, if the actor may edit its post."""
    visible = policy.visible_preview_links(actor)
    if visible is NEVER:  # the statement of a node then looks for no link
        return PreviewLink.objects.none()
    return PreviewLink.objects.filter(visible, pk=pk, expires_at__gt=Now())


@parametrised(PreviewLink, post=parse_id)
def select_preview_links(
    actor: Actor, *, post: int, after: str | None = None, after_pk: int | None = None
) -> QuerySet[PreviewLink]:
    """Return the valid links of a post, the newest first, from after a position, if the actor may edit the post."""
    links = select_newest_valid_links(PreviewLink.objects.filter(post=post), actor)
    return links if after is None else links.filter(NEWEST_FIRST.beyond(after, after_pk))


@parametrised(Post, pk=parse_id)
def select_post_with_links(actor: Actor, *, pk: int) -> QuerySet[Post]:
    """Return the post with this id, if the actor may see its preview links."""
    return Post.objects.filter(policy.previewable_posts(actor), pk=pk)
