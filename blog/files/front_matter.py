"""Markdown with front matter, as Zola, Hugo and Jekyll write it: what each key means for a post.

This module reads all three and writes TOML. `status`, `publishAt` and `publishedAt` are our own keys: the generators
know only `draft` and `published`. `blog.files.syntax` reads and writes the syntax, `blog.files.dates` the dates.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import PurePath
from typing import Any

from django.utils import timezone

from blog.files.addresses import ADDRESS_KEYS, read_canonical_url, read_slug
from blog.files.dates import (
    InvalidDate,
    find_date_in_address,
    find_date_in_file_name,
    format_for_message,
    parse_date,
)
from blog.files.summaries import has_two_excerpts, read_description, read_excerpt
from blog.files.syntax import InvalidFile, Table, decode_value, parse_text, refuse_errors
from blog.models import CONTENT, CONTENT_FIELDS, COVER, SUMMARIES, Kind, PostStatus

# The keys that serialize_post writes. All other keys of a file are kept in `MarkdownPost.other`.
KEYS = {"canonical_url": "canonical"}  # of the fields of the content that have another name in files
OWN_KEYS = {
    *(KEYS.get(name, name) for name in CONTENT if name not in COVER),
    "date",
    "updated",
    "authors",
    "draft",
    "status",
    "publishAt",
    "publishedAt",
} - {"body"}
UPDATED_KEYS = ("updated", "lastmod", "last_modified_at")
RELEASE_KEYS = ("publishDate", "publishdate", "pubdate", "published")  # of the time of publication, in Hugo
AUTHOR_KEYS = ("authors", "author")
AUTHOR_NAME_KEYS = ("name", "login", "username", "handle")
TAG_KEYS = ("tags", "tag")
CATEGORY_KEYS = ("categories", "category")
NESTED_TABLES = ("taxonomies", "extra")  # in which Zola has authors and tags too
DRAFT_FOLDER = "_drafts"


@dataclass(frozen=True)
class MarkdownPost:
    """A file. `content` has the values of `CONTENT_FIELDS`; its body is the unchanged text after the front matter.

    A missing date or status is None.
    """

    content: Table
    authors: tuple[str, ...]
    date: datetime | None
    updated: datetime | None
    status: PostStatus | None
    publish_at: datetime | None
    published_at: datetime | None = None
    other: Table = field(default_factory=dict)

    @property
    def title(self) -> str:
        return str(self.content["title"])

    @property
    def release_date(self) -> datetime | None:
        """When the file says that the post becomes public: Hugo's publishDate, or the date."""
        return read_release_date(self.other) or self.date


def parse_post(content: bytes, path: PurePath) -> MarkdownPost | None:
    """Parse a file in this process. Return None for a page without title and text. Raises `InvalidFile`.

    An import parses with limits: see `blog.files.limited_parsing`.
    """
    return build_post(*parse_text(content), path)


def build_post(values: Table, body: str, path: PurePath) -> MarkdownPost | None:
    """Return the post of what `parse_text` returns. Return None for a page without title and text, which selects a
    template. Raises `InvalidFile`.
    """
    with refuse_errors():
        try:
            return build_post_of_table(decode_value(values), body, path)
        except InvalidDate as error:
            raise InvalidFile(str(error)) from None


def build_post_of_table(meta: Table, body: str, path: PurePath) -> MarkdownPost | None:
    if "title" not in meta and not body.strip():
        return None
    post = MarkdownPost(
        content=read_content(meta, body),
        authors=read_authors(meta),
        status=read_status(meta, path),
        date=read_date(meta, path),
        updated=read_first_date(meta, UPDATED_KEYS),
        publish_at=parse_date(meta.get("publishAt"), "publishAt"),
        published_at=parse_date(meta.get("publishedAt"), "publishedAt"),
        other=collect_other_keys(meta),
    )
    if (post.status == PostStatus.SCHEDULED) != (post.publish_at is not None):
        raise InvalidFile('status = "scheduled" and publishAt go together')
    if post.published_at and post.published_at > timezone.now():
        raise InvalidFile("publishedAt is in the future; schedule the post with publishAt")
    return post


def move_future_date(post: MarkdownPost, now: datetime) -> MarkdownPost:
    """Return the post without times of creation and change in the future.

    A date in the future is a time of publication. It becomes Hugo's `publishDate`, unless the file has one. A change in
    the future has been made now.
    """
    if post.updated and post.updated > now:
        adapted = {key: now for key in UPDATED_KEYS if read_first_date(post.other, [key]) == post.updated}
        post = replace(post, updated=now, other=post.other | adapted)
    if post.date is None or post.date <= now:
        return post
    release = read_release_date(post.other)
    if release is None:
        # First, because TOML, in which the post is exported, has plain values before tables.
        return replace(post, date=None, other={"publishDate": None} | post.other | {"publishDate": post.date})
    return replace(post, date=release if release <= now else None)


def collect_other_keys(meta: Table) -> Table:
    """Return the keys that `serialize_post` does not write, values that are none of ours, and authors with more than
    names.
    """
    other = {key: value for key, value in meta.items() if key not in OWN_KEYS or is_foreign(key, value)}
    if has_two_excerpts(meta):
        other["excerpt"] = meta["excerpt"]  # shows the export that the other one is no copy of it
    authors = meta.get("authors")
    people = authors if isinstance(authors, list) else [authors]
    if any(isinstance(person, dict) for person in people):
        other["authors"] = authors
    return other


def is_foreign(key: str, value: Any) -> bool:
    """Return whether the value of one of our keys cannot be that of the optional field."""
    name = next((name for name in (*SUMMARIES, "canonical_url") if KEYS.get(name, name) == key), None)
    return name is not None and READERS[name]({key: value}) is None


def read_content(meta: Table, body: str) -> Table:
    """Return the body, and the other fields of the content: the front matter has them under their own names."""
    content: Table = dict.fromkeys(COVER)  # a file names its path: `blog.files.images`
    for name, kind, *_ in CONTENT_FIELDS:
        if kind == Kind.MARKDOWN:
            content[name] = body
        elif name in READERS:
            content[name] = READERS[name](meta)
        elif name not in COVER:
            content[name] = read_words(meta.get(name), name) if kind == Kind.WORDS else read_line(meta.get(name), name)
    return content


def read_line(value: Any, key: str) -> str:
    if value is not None and not is_line(value):
        raise InvalidFile(f"{key} is not a text")
    return "" if value is None else str(value)


def is_line(value: Any) -> bool:
    return isinstance(value, (str, int, float, date)) and not isinstance(value, bool)


def read_title(meta: Table) -> str:
    value = meta.get("title")
    if is_line(value) and str(value).strip():
        return str(value)
    raise InvalidFile("has no title. Add one to the front matter.")


def read_tags(meta: Table) -> list[str]:
    """Return the tags and after them the categories, without duplicates."""
    return list(dict.fromkeys([*read_all_words(meta, TAG_KEYS), *read_all_words(meta, CATEGORY_KEYS)]))


READERS: dict[str, Callable[[Table], Any]] = {
    "title": read_title,
    "slug": read_slug,
    "canonical_url": read_canonical_url,
    "excerpt": read_excerpt,
    "description": read_description,
    "tags": read_tags,
}


def read_all_words(meta: Table, keys: Iterable[str]) -> list[str]:
    """Return the words of all these keys, in the front matter and in Zola's tables."""
    found = [read_words(meta.get(key), key) for key in keys]
    found += [read_if_valid(read_words, table, key) for table in find_nested_tables(meta) for key in keys]
    return [word for words in found for word in words]


def find_nested_tables(meta: Table) -> list[Table]:
    return [meta[key] for key in NESTED_TABLES if isinstance(meta.get(key), dict)]


def read_if_valid(read: Callable[[Any, str], list[str]], table: Table, key: str) -> list[str]:
    """Return what a key of a nested table states. Such a key may also be a theme's, with values of another type."""
    try:
        return read(table.get(key), key)
    except InvalidFile:
        return []


def read_words(value: Any, key: str) -> list[str]:
    """Return tags: a list, or one string as Jekyll has it. The string of `tag` and `category` is one word."""
    if isinstance(value, str):
        value = split_words(value, key)
    items = value if isinstance(value, list) else [value] if value is not None else []
    if not all(isinstance(item, (str, int, float, date)) for item in items):
        raise InvalidFile(f'{key} is not a list of words. Write a list such as ["harbour", "history"].')
    return [text for item in items if (text := str(item).strip())]


def split_words(text: str, key: str) -> list[str]:
    if "," in text:
        return text.split(",")
    return [text] if key in ("tag", "category") else text.split()


def read_authors(meta: Table) -> tuple[str, ...]:
    for key in AUTHOR_KEYS:
        if names := read_names(meta.get(key), key):
            return tuple(names)
    found = (read_if_valid(read_names, table, key) for table in find_nested_tables(meta) for key in AUTHOR_KEYS)
    return tuple(next(filter(None, found), []))


def read_names(value: Any, key: str) -> list[str]:
    """Return the names of authors: text, tables with a name, or a list of them. Commas separate names in `authors`."""
    if isinstance(value, str) and key == "authors":
        value = value.split(",")
    people = value if isinstance(value, list) else [value] if value is not None else []
    names = [read_name(person, key) for person in people]
    return [name for name in names if name]


def read_name(person: Any, key: str) -> str:
    if isinstance(person, dict):
        person = next((person[name] for name in AUTHOR_NAME_KEYS if person.get(name)), None)
    if isinstance(person, (str, int, float)):
        return str(person).strip()
    raise InvalidFile(f'{key} has an author without a name. Write names such as ["Ines Falk", "Jo Berg"].')


def read_status(meta: Table, path: PurePath) -> PostStatus | None:
    """Return the status by draft, published, status and folder. Raises `InvalidFile` if they contradict each other."""
    status = meta.get("status")
    if status is not None and status not in PostStatus.values:
        raise InvalidFile(f"status is none of {', '.join(PostStatus.values)}: {format_for_message(status)}")
    reason = find_draft_reason(meta, path)
    if reason and status not in (None, PostStatus.DRAFT):
        raise InvalidFile(f"{reason}, but status is {status}. Remove one of the two.")
    return PostStatus.DRAFT if reason else status and PostStatus(status)


def find_draft_reason(meta: Table, path: PurePath) -> str:
    """Return why the file is a draft, or an empty string."""
    draft, published = meta.get("draft"), meta.get("published")
    if draft is not None and not isinstance(draft, bool):
        raise InvalidFile(f"draft is neither true nor false: {format_for_message(draft)}")
    if isinstance(published, str) and published.lower() in ("true", "false", "yes", "no"):
        raise InvalidFile(f"published is text: {published!r}. Write it without quotation marks.")
    if draft:
        return "draft is true"
    if published is False:
        return "published is false"
    return "the file is in a folder _drafts" if DRAFT_FOLDER in path.parent.parts else ""


def read_date(meta: Table, path: PurePath) -> datetime | None:
    """Return the date of the front matter, of the page's URL, of the file's name, or of Hugo's publishDate."""
    return (
        parse_date(meta.get("date"), "date")
        or find_date_in_address(meta.get(key) for key in ADDRESS_KEYS)
        or find_date_in_file_name(path)
        or read_release_date(meta)
    )


def read_release_date(meta: Table) -> datetime | None:
    """Return when the post becomes public by Hugo's keys. Jekyll's `published` is true or false."""
    return read_first_date(meta, [key for key in RELEASE_KEYS if not isinstance(meta.get(key), bool)])


def read_first_date(meta: Table, keys: Iterable[str]) -> datetime | None:
    found = [parse_date(meta.get(key), key) for key in keys]  # each key is checked
    return next(filter(None, found), None)
