"""The summaries of a page in front matter: its excerpt and its description."""

from typing import Any

from blog import services
from blog.files.keys import EXCERPT_KEYS
from blog.files.syntax import Table
from blog.models import CONTENT_FIELDS, SUMMARIES

EXCERPT, DESCRIPTION = (next(field for field in CONTENT_FIELDS if field.name == name) for name in SUMMARIES)


def read_excerpt(meta: Table) -> str | None:
    """Return the excerpt; None for a value that cannot be one, which stays in the file."""
    return next(filter(None, (read_summary(EXCERPT, meta.get(key)) for key in EXCERPT_KEYS)), None)


def read_description(meta: Table) -> str | None:
    return read_summary(DESCRIPTION, meta.get("description"))


def read_summary(field: Any, value: Any) -> str | None:
    text = value.strip() if isinstance(value, str) else ""
    return text if text and not services.list_problems(field, text) else None


def has_two_excerpts(meta: Table) -> bool:
    """Return whether a file has different texts in its keys `excerpt` and `summary`. The first is the excerpt."""
    texts = {read_summary(EXCERPT, meta.get(key)) for key in EXCERPT_KEYS}
    return len(texts) > 1 and None not in texts


def refresh_summaries(other: Table, excerpt: str | None, description: str | None) -> Table:
    """Return the other keys of a file in their order, without summaries that contradict those of the post.

    The key `summary` is an excerpt only without the key `excerpt`. It stays if the file had another text in it before.
    """
    fresh = dict(other)
    own, summary = (read_summary(EXCERPT, other.get(key)) for key in EXCERPT_KEYS)
    is_outdated = summary not in (None, excerpt)
    if is_outdated and excerpt is None:
        del fresh["summary"]
    elif is_outdated and not has_two_excerpts(other):
        fresh["summary"] = excerpt
    summary = read_summary(EXCERPT, fresh.get("summary"))
    if own is not None or summary != excerpt:
        fresh.pop("excerpt", None)
    if description is not None or read_description(other) is not None:
        fresh.pop("description", None)
    return fresh
