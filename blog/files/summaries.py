"""The summaries of a page in front matter: its excerpt and its description."""

from typing import Any

from blog import services
from blog.files.syntax import Table
from blog.models import CONTENT_FIELDS, SUMMARIES

EXCERPT_KEYS = ("excerpt", "summary")  # in Jekyll, and in Hugo
EXCERPT, DESCRIPTION = (next(field for field in CONTENT_FIELDS if field.name == name) for name in SUMMARIES)


def read_excerpt(meta: Table) -> str | None:
    """Return the excerpt; None for a value that cannot be one, which stays in the file."""
    return next(filter(None, (read_summary(EXCERPT, meta.get(key)) for key in EXCERPT_KEYS)), None)


def read_description(meta: Table) -> str | None:
    return read_summary(DESCRIPTION, meta.get("description"))


def read_summary(field: Any, value: Any) -> str | None:
    text = value.strip() if isinstance(value, str) else ""
    return text if text and not services.list_problems(field, text) else None


def refresh_summaries(other: Table, excerpt: str | None, description: str | None) -> Table:
    """Return the other keys of a file, without summaries that contradict those of the post."""
    fresh = {
        key: value
        for key, value in other.items()
        if (key != "excerpt" or excerpt is None) and (key != "description" or description is None)
    }
    if read_summary(EXCERPT, other.get("summary")) not in (None, excerpt):
        del fresh["summary"]
        if excerpt is not None:
            fresh["summary"] = excerpt
    return fresh
