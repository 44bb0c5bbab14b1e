"""Export posts as Markdown files, in the format that `blog.files.importing` reads."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, OuterRef, QuerySet

from blog import policy
from blog.files import images
from blog.files.addresses import add_old_slugs, refresh_addresses
from blog.files.authors import get_author_names
from blog.files.front_matter import (
    KEYS,
    MarkdownPost,
    collect_other_keys,
    read_first_date,
    read_release_date,
    refresh_summaries,
)
from blog.files.keys import (
    AUTHOR_KEYS,
    CATEGORY_KEYS,
    NESTED_TABLES,
    RELEASE_KEYS,
    SHOWING_KEYS,
    TAG_KEYS,
    UPDATED_KEYS,
)
from blog.files.states import is_flag, is_hiding
from blog.files.syntax import Table, decode_value, dump_front_matter
from blog.files.words import read_if_valid, read_names, read_words
from blog.models import CONTENT, CONTENT_FIELDS, SUMMARIES, Author, Kind, Post, PostStatus, build_old_slugs
from contentapi.core.identity import Actor
from contentapi.db.arrays import ArrayPosition, IsInArray

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


def to_markdown_post(post: Post) -> MarkdownPost:
    return MarkdownPost(
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
    other = collect_other_keys(stored)  # there were fewer fields, perhaps, when the file was imported
    other |= {key: stored[key] for key in SUMMARIES if key in stored}
    authors = get_author_names(post)
    return other if list(authors) == source.authors else replace_authors(other, authors)


def serialize_post(post: MarkdownPost) -> bytes:
    """Return the content of a file whose import gives this post."""
    lines = {
        KEYS.get(name, name): post.content[name]
        for name, kind, *_ in CONTENT_FIELDS
        if kind not in (Kind.MARKDOWN, Kind.WORDS, Kind.IMAGE, Kind.IMAGE_TEXT)
    }
    words = {name: post.content[name] for name, kind, *_ in CONTENT_FIELDS if kind == Kind.WORDS}
    meta = {
        **{name: line or None for name, line in lines.items()},
        "date": post.date,
        "updated": post.updated,
        "authors": list(post.authors),
        **words,
        "draft": post.status == PostStatus.DRAFT,
        "status": post.status and post.status.value,
        "publishAt": post.publish_at,
        "publishedAt": post.published_at,
    }
    other = refresh_other_keys(post)
    own = {name: value for name, value in meta.items() if value is not None and name not in other}
    return f"{dump_front_matter(own | other)}{post.content['body']}".encode()


def refresh_other_keys(post: MarkdownPost) -> Table:
    """Return the other keys of the file, without statements that contradict the post's present values."""
    other = refresh_addresses(post.other, post.content["slug"], post.content["canonical_url"])
    other = refresh_summaries(other, post.content["excerpt"], post.content["description"])
    other = refresh_tags(other, post)  # an editor may have removed one that the file has as a category
    for key in NESTED_TABLES:
        if isinstance(other.get(key), dict):
            other[key] = refresh_tags(other[key], post)
    for key in UPDATED_KEYS:
        if key in other and post.updated and read_first_date(other, [key]) != post.updated:
            other[key] = post.updated
    public_at = post.published_at if post.status == PostStatus.PUBLISHED else post.publish_at
    for key in RELEASE_KEYS if public_at else ():
        stated = read_release_date({key: other.get(key)})
        if stated not in (None, public_at):
            other[key] = public_at
    return refresh_flags(other, post.status == PostStatus.DRAFT)


def refresh_flags(other: Table, is_draft: bool) -> Table:  # noqa: FBT001 - the only value
    """Return the other keys without those that hide a post that is no draft any more. `status` is written."""
    fresh = {key: value for key, value in other.items() if is_draft or key in SHOWING_KEYS or not is_hiding(key, value)}
    fresh.pop("post_status", None)
    flags = {key: not is_draft for key in SHOWING_KEYS if key in fresh and (key == "publish" or is_flag(fresh[key]))}
    return fresh | flags


def refresh_tags(table: Table, post: MarkdownPost) -> Table:
    fresh = dict(table)
    for key in (*TAG_KEYS, *CATEGORY_KEYS):
        words = read_if_valid(read_words, table, key)
        present = [word for word in words if word in post.content["tags"]]
        if present != words:
            fresh[key] = present
    return fresh


def replace_authors(other: Table, authors: Sequence[str]) -> Table:
    """Return the front matter with these authors, wherever it names authors."""
    fresh = dict(other)
    for key in NESTED_TABLES:
        if isinstance(other.get(key), dict):
            fresh[key] = replace_authors(other[key], authors)
    for key in AUTHOR_KEYS:
        if read_if_valid(read_names, other, key):
            fresh[key] = list(authors)
    return fresh
