"""Export posts as Markdown files, in the format that `blog.importing` reads."""

from collections.abc import Iterator
from pathlib import Path

from django.db.models import QuerySet

from blog import front_matter
from blog.front_matter import NO_AUTHOR, MarkdownPost
from blog.front_matter_syntax import Table, decode_value
from blog.models import Post, PostStatus
from contentapi.core import policy
from contentapi.core.identity import Actor

AT_ONCE = 500  # number of posts in memory


def list_posts_to_export(actor: Actor) -> QuerySet[Post]:
    """Return the posts that the actor may see, oldest first, with their authors and sources."""
    return Post.objects.filter(policy.visible_posts(actor)).select_related("author", "source").order_by("id")


def export_posts(*, actor: Actor, directory: Path) -> Iterator[Path]:
    """Write each post to a file named by its id. Yields the path of each file. Raises `OSError`."""
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
        other=get_other_front_matter(post),
    )


def get_other_front_matter(post: Post) -> Table:
    """Return the front matter of the imported file that has no field here."""
    source = getattr(post, "source", None)
    if source is None or source.front_matter is None:
        return {}
    other: Table = decode_value(source.front_matter)
    authors = get_author_names(post)
    return other if list(authors) == source.authors else front_matter.replace_authors(other, authors)


def get_author_names(post: Post) -> tuple[str, ...]:
    """Return the imported names if the first is still that of the post's author, else only the author's name."""
    source = getattr(post, "source", None)
    if source and (source.authors[:1] or [NO_AUTHOR]) == [post.author.name]:
        return tuple(source.authors)
    return (post.author.name,)
