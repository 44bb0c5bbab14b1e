"""Markdown with front matter: TOML between `+++` lines (Zola, Hugo) or YAML between `---` lines (Jekyll, Hugo).

This module reads both and writes TOML. `status` and `publishAt` are our own keys: the generators know only `draft`.
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
ADDRESS_KEYS = ("path", "url", "permalink")  # of the URL of a page, in Zola, Hugo and Jekyll


class InvalidFile(ValueError):
    """The file cannot be parsed. The message is for its author."""


@dataclass(frozen=True)
class MarkdownPost:
    """The content of a file. `body` is the unchanged text after the front matter. A missing date or status is None."""

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
    """Parse a file. Return None for a page without title and text, which selects a template. Raises `InvalidFile`."""
    try:
        return parse_post_fields(content, path)
    except InvalidFile:
        raise
    except Exception as error:  # noqa: BLE001 - PyYAML and numbers of 5,000 digits raise many types
        raise InvalidFile(f"cannot be parsed: {shorten(str(error), 200)}") from None


def parse_post_fields(content: bytes, path: PurePath) -> MarkdownPost | None:
    meta, body = split_front_matter(decode_text(content))
    if "title" not in meta and not body.strip():
        return None
    post = MarkdownPost(
        title=read_title(meta),
        body=body,
        authors=read_authors(meta),
        tags=read_tags(meta),
        date=parse_date(meta.get("date"), "date") or find_date_in_address(meta) or find_date_in_file_name(path),
        updated=next(
            (parse_date(meta[key], key) for key in ("updated", "lastmod", "last_modified_at") if meta.get(key)),
            None,
        ),
        status=read_status(meta),
        publish_at=parse_date(meta.get("publishAt"), "publishAt"),
        published_at=parse_date(meta.get("publishedAt"), "publishedAt"),
    )
    if (post.status == PostStatus.SCHEDULED) != (post.publish_at is not None):
        raise InvalidFile('status = "scheduled" and publishAt go together')
    if not all(map(is_storable, (post.title, *post.authors, *post.tags))):
        raise InvalidFile("the front matter contains a NUL character or a lone surrogate")
    return post


def serialize_post(post: MarkdownPost) -> bytes:
    """Return the content of a file that `parse_post` parses to this post."""
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
    present = {name: value for name, value in meta.items() if value is not None}
    return f"+++\n{tomli_w.dumps(present)}+++\n{post.body}".encode()


def decode_text(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidFile(f"not UTF-8 (byte {error.start})") from None
    if "\0" in text:
        raise InvalidFile("contains a NUL character")
    return text


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Return the front matter, and the text after its last line."""
    first, _, rest = text.partition("\n")
    fence = first.rstrip()
    if fence not in FENCES:
        raise InvalidFile("does not begin with front matter (+++ or ---)")
    end = re.search(rf"^{re.escape(fence)}[ \t\r]*(?:\n|\Z)", rest, re.MULTILINE)
    if end is None:
        raise InvalidFile(f"the front matter has no second {fence}")
    return load_front_matter(rest[: end.start()], FENCES[fence]), rest[end.end() :]


def load_front_matter(text: str, language: str) -> dict[str, Any]:
    try:
        meta = tomllib.loads(text.replace("\r\n", "\n")) if language == "TOML" else yaml.safe_load(text)
    except (tomllib.TOMLDecodeError, yaml.YAMLError, RecursionError) as error:
        raise InvalidFile(f"the front matter is not {language}: {shorten(str(error), 200)}") from None
    if meta is None:
        return {}
    if not isinstance(meta, dict):
        raise InvalidFile("the front matter is not a table of names and values")
    return meta


def read_title(meta: dict[str, Any]) -> str:
    value = meta.get("title")
    if isinstance(value, (str, int, float, date)) and not isinstance(value, bool) and str(value).strip():
        return str(value)
    raise InvalidFile("has no title")


def find_first_value(meta: dict[str, Any], *keys: str) -> Any:
    """Return the first value of these keys: at the top level, or in Zola's tables `taxonomies` and `extra`."""
    for table in (meta, meta.get("taxonomies"), meta.get("extra")):
        if isinstance(table, dict):
            for key in keys:
                if table.get(key):
                    return table[key]
    return []


def read_tags(meta: dict[str, Any]) -> tuple[str, ...]:
    """Return the tags without duplicates. They are a list, or in Jekyll also one string."""
    value = find_first_value(meta, "tags")
    if isinstance(value, str):
        value = value.split(",") if "," in value else value.split()
    return tuple(dict.fromkeys(require_strings(value, "tags")))


def read_authors(meta: dict[str, Any]) -> tuple[str, ...]:
    value = find_first_value(meta, "authors", "author")
    people = value if isinstance(value, list) else [value]
    names = [person.get("name") if isinstance(person, dict) else person for person in people]
    return tuple(require_strings(names, "authors"))


def require_strings(value: Any, name: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, (str, int, float)) for item in value):
        raise InvalidFile(f"{name} is not a list of strings")
    return [text for item in value if (text := str(item).strip())]


def read_status(meta: dict[str, Any]) -> PostStatus | None:
    """Return the status by `draft` or `status`. Raises `InvalidFile` if they contradict each other."""
    draft, status = meta.get("draft", False), meta.get("status")
    if not isinstance(draft, bool):
        raise InvalidFile(f"draft is neither true nor false: {format_for_message(draft)}")
    if status is not None and status not in PostStatus.values:
        raise InvalidFile(f"status is none of {', '.join(PostStatus.values)}: {format_for_message(status)}")
    if draft and status not in (None, PostStatus.DRAFT):
        raise InvalidFile(f"draft is true, but status is {status}")
    return PostStatus.DRAFT if draft else status and PostStatus(status)


def find_date_in_address(meta: dict[str, Any]) -> datetime | None:
    """Return the date in the URL of the page, as in Zola's path = "2015/05/15/Rust-1.0"."""
    for key in ADDRESS_KEYS:
        if isinstance(meta.get(key), str) and (match := DATE_IN_ADDRESS.search(meta[key])):
            return parse_date_match(match)
    return None


def find_date_in_file_name(path: PurePath) -> datetime | None:
    """Return the date in the name of the file, or of the folder of an index.md, as in Jekyll's 2015-05-15-title.md."""
    name = path.parent.name if path.stem == "index" else path.stem
    match = DATE_IN_NAME.match(name)
    return parse_date_match(match) if match else None


def parse_date_match(match: re.Match[str]) -> datetime:
    try:
        return datetime.combine(date(*map(int, match.groups())), time(), UTC)
    except ValueError:
        raise InvalidFile(f"{match.group()} is not a date") from None


def parse_date(value: Any, name: str) -> datetime | None:
    """Parse a date or a time. Without an offset it is in UTC."""
    match value:
        case None | "":
            return None
        case datetime():
            found = value
        case date():
            found = datetime.combine(value, time())
        case str():
            found = parse_date_text(value.strip(), name)
        case _:
            raise InvalidFile(f"{name} is not a date: {format_for_message(value)}")
    try:
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise InvalidFile(f"{name} is out of range: {format_for_message(value)}") from None


def parse_date_text(text: str, name: str) -> datetime:
    for read in (datetime.fromisoformat, lambda value: datetime.strptime(value, "%Y-%m-%d %H:%M:%S %z")):
        try:
            return read(text)
        except ValueError:
            continue
    raise InvalidFile(f"{name} is not a date: {format_for_message(text)}")


def format_for_message(value: Any) -> str:
    """Return a short text for a value; a value of YAML aliases can be very large."""
    return shorten(repr(value), 60) if isinstance(value, (str, int, float, date)) else f"a {type(value).__name__}"
