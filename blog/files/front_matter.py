"""Markdown with front matter, as Zola, Hugo and Jekyll write it: what each key means for a post.

This module reads all three and writes TOML. `status`, `publishAt` and `publishedAt` are our own keys: the generators
know only `draft` and `published`. `blog.files.syntax` reads and writes the syntax, `blog.files.dates` the dates.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePath
from typing import Any

from django.utils import timezone

from blog import services
from blog.files import keys
from blog.files.addresses import adapt_slug, read_canonical_url, read_slug
from blog.files.dates import InvalidDate, find_date_in_address, parse_date, split_file_name
from blog.files.states import is_flag, read_state
from blog.files.syntax import InvalidFile, Table, decode_value, refuse_errors
from blog.files.words import choose_title, is_line, read_authors, read_line, read_list, read_tags, read_words
from blog.models import CONTENT_FIELDS, COVER, POST_OWN, SUMMARIES, Kind, PostStatus
from contentapi.core.errors import Malformed
from contentapi.types.fields import Kind as OwnKind
from contentapi.types.fields import OwnField
from contentapi.types.values import convert_value

# The keys that serialize_post writes. All other keys of a file are kept in `MarkdownPost.other`.
KEYS = {"canonical_url": "canonical"}  # of the fields of the content that have another name in files
OWN_KEYS = {
    *(KEYS.get(field.name, field.name) for field in CONTENT_FIELDS if field.name not in COVER),
    *("date", "updated", "authors", "draft", "status", "publishAt", "publishedAt"),
} - {"body"}
POST_OWN.refuse_names([*OWN_KEYS, *keys.FOREIGN_KEYS], "like a key of front matter")
OWN_KEYS |= {*POST_OWN.names}
EXCERPT, DESCRIPTION = (next(field for field in CONTENT_FIELDS if field.name == name) for name in SUMMARIES)
SPELLINGS = {key.lower(): key for key in OWN_KEYS}
FOREIGN_SPELLINGS = {keys.fold_key(key): key for key in keys.FOREIGN_KEYS}


@dataclass(frozen=True)
class MarkdownPost:
    """A file. `content` has the values of `CONTENT_FIELDS`; its body is the unchanged text after the front matter.

    A missing date or status is None. `file_slug` is the slug of the file's name. `notes` say what was guessed.
    """

    content: Table
    authors: tuple[str, ...]
    date: datetime | None
    updated: datetime | None
    status: PostStatus | None
    publish_at: datetime | None
    published_at: datetime | None = None
    other: Table = field(default_factory=dict)
    file_slug: str | None = field(default=None, compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def release_date(self) -> datetime | None:
        """When the file says that the post becomes public: Hugo's publishDate, or the date."""
        return read_release_date(self.other) or self.date


@refuse_errors()
def build_post(values: Table, body: str, path: PurePath) -> MarkdownPost | None:
    """Return the post of what `parse_text` returns; None for a page without title and text. Raises `InvalidFile`."""
    meta = name_keys(decode_value(values))
    if meta.get("title") is None and not body.strip():
        return None
    title, body, title_note = choose_title(meta, body, path)
    written, release = read_date(meta, path), read_release_date(meta)
    status, status_note = read_state(meta, path, release or written)
    post = MarkdownPost(
        content=read_content(meta | {"title": title}, body),
        authors=read_authors(meta),
        status=status,
        date=written or release,
        updated=read_first_date(meta, keys.UPDATED_KEYS),
        publish_at=parse_date(meta.get("publishAt"), "publishAt"),
        published_at=parse_date(meta.get("publishedAt"), "publishedAt"),
        other=collect_other_keys(meta),
        file_slug=adapt_slug(split_file_name(path)[1]),
        notes=tuple(filter(None, (title_note, status_note))),
    )
    if (post.status == PostStatus.SCHEDULED) != (post.publish_at is not None):
        raise InvalidFile('status = "scheduled" and publishAt go together')
    if post.published_at and post.published_at > timezone.now():
        raise InvalidFile("publishedAt is in the future; schedule the post with publishAt")
    return post


def name_keys(meta: Table) -> Table:
    """Return front matter with usual spellings of known keys. Raises `InvalidFile` for two spellings that disagree."""
    named: dict[Any, Any] = {}
    for key, value in meta.items():
        name = key
        if isinstance(key, str):
            name = SPELLINGS.get(key.lower()) or FOREIGN_SPELLINGS.get(keys.fold_key(key), key)
        if name in named and named[name] != value:
            raise InvalidFile(f"the front matter has the key {name} in two spellings. Remove one.")
        named[name] = value
    return named


def move_future_date(post: MarkdownPost, now: datetime) -> MarkdownPost:
    """Return the post without times of creation and change in the future.

    Such a date is a time of publication: Hugo's `publishDate`, unless the file has one. Such a change is made now.
    """
    if post.updated and post.updated > now:
        outdated = [key for key in keys.UPDATED_KEYS if read_date_of_key(post.other, key) == post.updated]
        adapted = post.other | dict.fromkeys(outdated, now)
        post = replace(post, updated=now, other=adapted)
    if post.date is None or post.date <= now:
        return post
    release = read_release_date(post.other)
    if release is None:
        # First, because TOML, in which the post is exported, has plain values before tables.
        other = {"publishDate": None} | post.other | {"publishDate": post.date}
        return replace(post, date=None, other=other)
    return replace(post, date=release if release <= now else None)


def collect_other_keys(meta: Table) -> Table:
    """Return the keys that `serialize_post` does not write, values that are none of ours, and authors as tables."""
    foreign = {key for key in ("canonical", *SUMMARIES) if READERS[key]({key: meta.get(key)}) is None}
    other = {key: value for key, value in meta.items() if key not in OWN_KEYS - foreign}
    if has_two_excerpts(meta):
        other["excerpt"] = meta["excerpt"]  # shows the export that the other one is no copy of it
    if any(isinstance(person, dict) for person in read_list(meta.get("authors"))):
        other["authors"] = meta["authors"]
    return other


def read_content(meta: Table, body: str) -> Table:
    """Return the body, and the other fields of the content: the front matter has them under their own names."""
    content: Table = dict.fromkeys(COVER)  # a file names its path: `blog.files.images`
    for own in POST_OWN.fields.values():
        content.setdefault("own", {})[own.name] = read_own_field(own, meta.get(own.name))
    for name, kind, *_ in CONTENT_FIELDS:
        if kind == Kind.MARKDOWN:
            content[name] = body
        elif (key := KEYS.get(name, name)) in READERS:
            content[name] = READERS[key](meta)
        elif name not in COVER:
            content[name] = read_words(meta.get(name), name) if kind == Kind.WORDS else read_line(meta.get(name), name)
    return content


def read_own_field(field: OwnField, value: Any) -> Any:
    """Return the value of an own field; None for none. Raises `InvalidFile`."""
    if isinstance(value, list):
        value = [read_own_item(field, item) for item in value]
    try:
        return None if value is None else convert_value(field, read_own_item(field, value))
    except Malformed as error:
        raise InvalidFile(error.message) from None


def read_own_item(field: OwnField, value: Any) -> Any:
    """Return a value as the API takes it: TOML and YAML have times, and YAML makes numbers of texts."""
    if field.kind == OwnKind.TIME and is_line(value):
        return parse_date(value, field.name)
    return read_line(value, field.name) if field.kind == OwnKind.TEXT and is_line(value) else value


def read_excerpt(meta: Table) -> str | None:
    """Return the excerpt; None for a value that cannot be one, which stays in the file."""
    return next(filter(None, (read_summary(EXCERPT, meta.get(key)) for key in keys.EXCERPT_KEYS)), None)


def read_summary(field: Any, value: Any) -> str | None:
    text = value.strip() if isinstance(value, str) else ""
    return text if text and not services.list_problems(field, text) else None


def has_two_excerpts(meta: Table) -> bool:
    """Return whether a file has different texts in its keys `excerpt` and `summary`. The first is the excerpt."""
    texts = {read_summary(EXCERPT, meta.get(key)) for key in keys.EXCERPT_KEYS}
    return len(texts) > 1 and None not in texts


# What the front matter states of a field, by our key
READERS: dict[str, Callable[[Table], Any]] = {
    "slug": read_slug,
    "canonical": read_canonical_url,
    "excerpt": read_excerpt,
    "description": lambda meta: read_summary(DESCRIPTION, meta.get("description")),
    "tags": read_tags,
    "authors": read_authors,
}


def read_date(meta: Table, path: PurePath) -> datetime | None:
    """Return the date of the front matter, of the page's URL, of the file's name, or of the file's creation."""
    return (
        parse_date(meta.get("date"), "date")
        or find_date_in_address(meta.get(key) for key in keys.ADDRESS_KEYS)
        or split_file_name(path)[0]
        or read_first_date(meta, keys.CREATED_KEYS)
    )


def read_release_date(meta: Table) -> datetime | None:
    """Return when the post becomes public by the keys of generators. Jekyll's `published` is true or false."""
    return read_first_date(meta, [key for key in keys.RELEASE_KEYS if not is_flag(meta.get(key))])


def read_first_date(meta: Table, names: Iterable[str]) -> datetime | None:
    found = [read_date_of_key(meta, name) for name in names]  # each key is checked
    return next(filter(None, found), None)


def read_date_of_key(meta: Table, key: str) -> datetime | None:
    """Return the date of a key. Raises `InvalidDate` if the key has no other meaning."""
    try:
        return parse_date(meta.get(key), key)
    except InvalidDate:
        if key in keys.DATE_KEYS:
            raise
        return None
