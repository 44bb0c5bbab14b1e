"""Export posts as Markdown files, in the format that `blog.files.importing` reads."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, OuterRef, QuerySet

from blog import policy
from blog.files import front_matter, images, keys
from blog.files.addresses import add_old_slugs, read_canonical_url, refresh_address
from blog.files.authors import get_author_names
from blog.files.states import is_flag, is_hiding
from blog.files.syntax import Table, decode_value, dump_front_matter
from blog.files.words import read_if_valid, read_names, read_words
from blog.models import CONTENT, CONTENT_FIELDS, POST_OWN, Author, Kind, Post, PostStatus, build_old_slugs
from contentapi.core.identity import Actor
from contentapi.db.expressions import ArrayPosition, IsInArray

AT_ONCE = 500  # number of posts in memory


def list_posts_to_export(actor: Actor) -> QuerySet[Post]:
    """Return the posts that the actor may see, oldest first, with their authors, sources and old slugs."""
    coauthors = Author.objects.filter(IsInArray(F("pk"), OuterRef("coauthor_ids")))
    coauthors = coauthors.annotate(place=ArrayPosition(OuterRef("coauthor_ids"), F("pk"))).order_by("place")
    posts = Post.objects.filter(policy.visible_posts(actor)).annotate(
        old_slugs=build_old_slugs(), coauthor_names=ArraySubquery(coauthors.values("name"))
    )
    return posts.select_related("author", "source").order_by("id")


def export_posts(*, actor: Actor, directory: Path) -> Iterator[Path]:
    """Write each post to a file named by its id, and the images. Yields the path of each file. Raises `OSError`."""
    paths = images.write_images(directory)
    for post in list_posts_to_export(actor).iterator(AT_ONCE):
        file = directory / f"{post.pk}.md"
        file.write_bytes(serialize_post(images.export_images(to_markdown_post(post), paths)))
        yield file


def to_markdown_post(post: Post) -> front_matter.MarkdownPost:
    return front_matter.MarkdownPost(
        content={name: getattr(post, name) for name in CONTENT},
        authors=get_author_names(post),
        date=post.created_at,
        updated=post.updated_at,
        status=PostStatus(post.status),
        publish_at=post.publish_at,
        published_at=post.published_at,
        other=add_old_slugs(get_other_front_matter(post), getattr(post, "old_slugs", ())),
    )


def get_other_front_matter(post: Post) -> Table:
    """Return the front matter of the imported file that has no field here."""
    source = getattr(post, "source", None)
    if source is None:
        return {}
    stored = decode_value(source.front_matter)
    other = front_matter.collect_other_keys(stored)  # there were fewer fields, perhaps, when the file was imported
    other |= {name: stored[name] for name in POST_OWN.names if name in stored and name not in post.own}
    authors = get_author_names(post)
    return other if list(authors) == source.authors else replace_authors(other, authors)


def serialize_post(post: front_matter.MarkdownPost) -> bytes:
    """Return the content of a file whose import gives this post."""
    content = post.content
    meta = {
        **{
            front_matter.KEYS.get(name, name): content[name] or None
            for name, kind, *_ in CONTENT_FIELDS
            if kind not in (Kind.MARKDOWN, Kind.WORDS, Kind.IMAGE, Kind.IMAGE_TEXT)
        },
        "date": post.date,
        "updated": post.updated,
        "authors": post.authors,
        **{name: content[name] for name, kind, *_ in CONTENT_FIELDS if kind == Kind.WORDS},
        **{name: content.get("own", {}).get(name) for name in POST_OWN.names},
        "draft": post.status == PostStatus.DRAFT,
        "status": post.status and post.status.value,
        "publishAt": post.publish_at,
        "publishedAt": post.published_at,
    }
    other = {key: refresh_value(key, post.other[key], post) for key in post.other if not is_outdated(key, post)}
    kept = {
        key: value
        for key, value in other.items()
        if meta.get(key) is None or front_matter.READERS[key](other) == meta[key]
    }
    own = {key: value for key, value in meta.items() if value is not None and key not in kept}
    return f"{dump_front_matter(own | kept)}{content['body']}".encode()


def refresh_value(key: Any, value: Any, post: front_matter.MarkdownPost) -> Any:
    """Return the value of another key of the file: the present one, if it states a field of the post."""
    content = post.content
    if key in keys.SHOWING_KEYS and (key == "publish" or is_flag(value)):
        return post.status != PostStatus.DRAFT
    if key in (*keys.UPDATED_KEYS, *keys.RELEASE_KEYS) and not is_flag(value):
        public_at = post.published_at if post.status == PostStatus.PUBLISHED else post.publish_at
        present = post.updated if key in keys.UPDATED_KEYS else public_at
        return refresh(value, front_matter.read_date_of_key({key: value}, key), present)
    if key in keys.ADDRESS_KEYS and not is_flag(value):
        return refresh_address(value, content["slug"])
    if key == "summary" and not front_matter.has_two_excerpts(post.other):
        return refresh(value, front_matter.read_excerpt({key: value}), content["excerpt"])
    return refresh_tags(key, value, content["tags"])


def refresh(value: Any, stated: Any, present: Any) -> Any:
    """Return `present`, or `value` if it states the same or if either is missing. `stated` is what `value` means."""
    return value if None in (stated, present) or stated == present else present


def is_outdated(key: Any, post: front_matter.MarkdownPost) -> bool:
    """Return whether a key states what the post has no more, or hides a post that is no draft any more."""
    value = post.other[key]
    if key in keys.EXCERPT_KEYS:
        return post.content["excerpt"] is None and front_matter.read_excerpt({key: value}) is not None
    if key in keys.CANONICAL_KEYS:
        return read_canonical_url({key: value}) not in (None, post.content["canonical_url"])
    is_hidden = key not in keys.SHOWING_KEYS and is_hiding(key, value)
    return key == "post_status" or (is_hidden and post.status != PostStatus.DRAFT)


def refresh_tags(key: Any, value: Any, tags: Sequence[str]) -> Any:
    """Return the value of a key without the words that are no tags of the post any more."""
    if key in keys.NESTED_TABLES and isinstance(value, dict):
        return {name: refresh_tags(name, each, tags) for name, each in value.items()}
    words = read_if_valid(read_words, {key: value}, key) if key in (*keys.TAG_KEYS, *keys.CATEGORY_KEYS) else []
    present = [word for word in words if word in tags]
    return value if present == words else present


def replace_authors(other: Table, authors: Sequence[str]) -> Table:
    """Return the front matter with these authors, wherever it names authors."""
    fresh = dict(other)
    for key in keys.NESTED_TABLES:
        if isinstance(other.get(key), dict):
            fresh[key] = replace_authors(other[key], authors)
    for key in keys.AUTHOR_KEYS:
        if read_if_valid(read_names, other, key):
            fresh[key] = list(authors)
    return fresh
