"""Posts as Markdown files, in the format that they are imported from."""

from collections.abc import Iterator
from pathlib import Path

from django.db.models import QuerySet

from blog import front_matter
from blog.front_matter import MarkdownPost
from blog.models import Post, PostStatus
from contentapi.core import policy
from contentapi.core.identity import Actor

AT_ONCE = 500  # posts in memory


def list_posts_to_export(actor: Actor) -> QuerySet[Post]:
    """Return the posts that the actor may see, in the order in which they were made, with what a file says of each."""
    return Post.objects.filter(policy.visible_posts(actor)).select_related("author", "source").order_by("id")


def export_posts(*, actor: Actor, directory: Path) -> Iterator[Path]:
    """Write each post into a file of its own, named by the post's id. Raises `OSError`."""
    for post in list_posts_to_export(actor).iterator(AT_ONCE):
        file = directory / f"{post.pk}.md"
        file.write_bytes(front_matter.serialize_post(to_markdown_post(post)))
        yield file


def to_markdown_post(post: Post) -> MarkdownPost:
    return MarkdownPost(
        title=post.title,
        body=post.body,
        authors=get_author_names(post),
        tags=tuple(post.tags),
        date=post.created_at,
        updated=post.updated_at,
        status=PostStatus(post.status),
        publish_at=post.publish_at,
        published_at=post.published_at,
    )


def get_author_names(post: Post) -> tuple[str, ...]:
    """Return all authors that a post was imported with, as long as the first is still the post's."""
    source = getattr(post, "source", None)
    named = tuple(source.authors) if source else ()
    return named if named[:1] == (post.author.name,) else (post.author.name,)
