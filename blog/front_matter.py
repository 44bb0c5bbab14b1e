"""Markdown with front matter: TOML between `+++` lines (Zola, Hugo) or YAML between `---` lines (Jekyll, Hugo).

Both are read; TOML is written. `status` and `publishAt` are words of ours: no generator has more states than `draft`.
"""

import re
import tomllib
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import PurePath
from textwrap import shorten
from typing import Any

import tomli_w
import yaml

from blog.models import PostStatus
from contentapi.core.text import is_storable

FENCES = {"+++": "TOML", "---": "YAML"}
DATE_IN_NAME = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?=[-_. T]|$)")
DATE_IN_ADDRESS = re.compile(r"(?:^|/)(\d{4})/(\d{2})/(\d{2})(?=/|$)")
ADDRESS_KEYS = ("path", "url", "permalink")  # Zola's, Hugo's and Jekyll's word for where a page is published


class BadFile(ValueError):
    """A file that cannot be understood. The message is for the person who wrote it."""


@dataclass(frozen=True)
class MarkdownPost:
    """What a file says of a post. `body` is everything after the front matter, untouched.

    A field is None if the file does not contain it.
    """

    title: str
    body: str
    authors: tuple[str, ...]
    tags: tuple[str, ...]
    date: datetime | None
    updated: datetime | None
    status: PostStatus | None
    publish_at: datetime | None
    published_at: datetime | None = None


def parse_post(content: bytes, path: PurePath) -> MarkdownPost | None:
    """Read a file. Raises `BadFile`; returns None for a page without title and text, which only picks a template."""
    try:
        return parse_post_fields(content, path)
    except BadFile:
        raise
    except Exception as error:  # noqa: BLE001 - what PyYAML and numbers of 5,000 digits raise has no common name
        raise BadFile(f"cannot be understood: {shorten(str(error), 200)}") from None


def parse_post_fields(content: bytes, path: PurePath) -> MarkdownPost | None:
    meta, body = split_front_matter(decode_text(content))
    if "title" not in meta and not body.strip():
        return None
    post = MarkdownPost(
        title=read_title(meta),
        body=body,
        authors=read_names(meta, "authors", "author"),
        tags=tuple(dict.fromkeys(read_words(find_value(meta, "tags"), "tags"))),
        date=parse_moment(meta.get("date"), "date") or find_date_in_address(meta) or find_date_in_file_name(path),
        updated=next(
            (parse_moment(meta[key], key) for key in ("updated", "lastmod", "last_modified_at") if meta.get(key)),
            None,
        ),
        status=read_status(meta),
        publish_at=parse_moment(meta.get("publishAt"), "publishAt"),
        published_at=parse_moment(meta.get("publishedAt"), "publishedAt"),
    )
    if (post.status == PostStatus.SCHEDULED) != (post.publish_at is not None):
        raise BadFile('status = "scheduled" and publishAt go together')
    if not all(map(is_storable, (post.title, *post.authors, *post.tags))):
        raise BadFile("the front matter holds a NUL character or a lone surrogate")
    return post


def serialize_post(post: MarkdownPost) -> bytes:
    """Return the file that `parse` reads this post from."""
    meta = {
        "title": post.title,
        "date": post.date,
        "updated": post.updated,
        "authors": list(post.authors),
        "tags": list(post.tags),
        "draft": post.status == PostStatus.DRAFT or None,
        "status": post.status and post.status.value,
        "publishAt": post.publish_at,
        "publishedAt": post.published_at,
    }
    given = {name: value for name, value in meta.items() if value is not None}
    return f"+++\n{tomli_w.dumps(given)}+++\n{post.body}".encode()


def decode_text(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadFile(f"not UTF-8 (byte {error.start})") from None
    if "\0" in text:
        raise BadFile("holds a NUL character")
    return text


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Return the front matter and everything after the line that ends it."""
    first, _, rest = text.partition("\n")
    fence = first.rstrip()
    if fence not in FENCES:
        raise BadFile("does not begin with front matter (+++ or ---)")
    end = re.search(rf"^{re.escape(fence)}[ \t\r]*(?:\n|\Z)", rest, re.MULTILINE)
    if end is None:
        raise BadFile(f"the front matter has no second {fence}")
    return load_front_matter(rest[: end.start()], FENCES[fence]), rest[end.end() :]


def load_front_matter(text: str, language: str) -> dict[str, Any]:
    try:
        meta = tomllib.loads(text.replace("\r\n", "\n")) if language == "TOML" else yaml.safe_load(text)
    except (tomllib.TOMLDecodeError, yaml.YAMLError, RecursionError) as error:
        raise BadFile(f"the front matter is not {language}: {shorten(str(error), 200)}") from None
    if meta is None:
        return {}
    if not isinstance(meta, dict):
        raise BadFile("the front matter is not a table of names and values")
    return meta


def read_title(meta: dict[str, Any]) -> str:
    value = meta.get("title")
    if isinstance(value, (str, int, float, date)) and not isinstance(value, bool) and str(value).strip():
        return str(value)
    raise BadFile("has no title")


def find_value(meta: dict[str, Any], *keys: str) -> Any:
    """Return the first of these that is given: at the top, or where Zola keeps taxonomies and extras."""
    for table in (meta, meta.get("taxonomies"), meta.get("extra")):
        if isinstance(table, dict):
            for key in keys:
                if table.get(key):
                    return table[key]
    return []


def read_words(value: Any, name: str) -> list[str]:
    """Read a list of words, or Jekyll's one string of them."""
    if isinstance(value, str):
        value = value.split(",") if "," in value else value.split()
    return read_texts(value, name)


def read_names(meta: dict[str, Any], *keys: str) -> tuple[str, ...]:
    value = find_value(meta, *keys)
    people = value if isinstance(value, list) else [value]
    return tuple(read_texts([who.get("name") if isinstance(who, dict) else who for who in people], keys[0]))


def read_texts(value: Any, name: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, (str, int, float)) for item in value):
        raise BadFile(f"{name} is not a list of texts")
    return [text for item in value if (text := str(item).strip())]


def read_status(meta: dict[str, Any]) -> PostStatus | None:
    """Read `draft`, which all generators know, and `status`, which is ours. Raises `BadFile` where they disagree."""
    draft, status = meta.get("draft", False), meta.get("status")
    if not isinstance(draft, bool):
        raise BadFile(f"draft is neither true nor false: {format_for_message(draft)}")
    if status is not None and status not in PostStatus.values:
        raise BadFile(f"status is none of {', '.join(PostStatus.values)}: {format_for_message(status)}")
    if draft and status not in (None, PostStatus.DRAFT):
        raise BadFile(f"is a draft, and its status is {status}")
    return PostStatus.DRAFT if draft else status and PostStatus(status)


def find_date_in_address(meta: dict[str, Any]) -> datetime | None:
    """Return the day in the page's address, as in Zola's path = "2015/05/15/Rust-1.0"."""
    for key in ADDRESS_KEYS:
        if isinstance(meta.get(key), str) and (match := DATE_IN_ADDRESS.search(meta[key])):
            return parse_date_match(match)
    return None


def find_date_in_file_name(path: PurePath) -> datetime | None:
    """Return the day in the name of the file, or of the folder of an index.md, as in Jekyll's 2015-05-15-title.md."""
    name = path.parent.name if path.stem == "index" else path.stem
    match = DATE_IN_NAME.match(name)
    return parse_date_match(match) if match else None


def parse_date_match(match: re.Match[str]) -> datetime:
    try:
        return datetime.combine(date(*map(int, match.groups())), time(), UTC)
    except ValueError:
        raise BadFile(f"{match.group()} is no day") from None


def parse_moment(value: Any, name: str) -> datetime | None:
    """Read a date or a time; UTC where no offset is given."""
    match value:
        case None | "":
            return None
        case datetime():
            found = value
        case date():
            found = datetime.combine(value, time())
        case str():
            found = parse_moment_text(value.strip(), name)
        case _:
            raise BadFile(f"{name} is no date: {format_for_message(value)}")
    try:
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise BadFile(f"{name} is out of range: {format_for_message(value)}") from None


def parse_moment_text(text: str, name: str) -> datetime:
    for read in (datetime.fromisoformat, lambda value: datetime.strptime(value, "%Y-%m-%d %H:%M:%S %z")):
        try:
            return read(text)
        except ValueError:
            continue
    raise BadFile(f"{name} is no date: {format_for_message(text)}")


def format_for_message(value: Any) -> str:
    """Return a value as a message shows it: in few words, whatever a file makes of it."""
    return shorten(repr(value), 60) if isinstance(value, (str, int, float, date)) else f"a {type(value).__name__}"
