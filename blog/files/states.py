"""Whether a file is public: by its keys, the states of WordPress and the folder `_drafts`. In doubt, it is a draft."""

from datetime import datetime
from pathlib import PurePath
from typing import Any

from django.utils import timezone

from blog.files.dates import format_for_message
from blog.files.keys import HIDING_KEYS
from blog.files.syntax import Table
from blog.models import PostStatus

TRUE, FALSE = {"true", "yes", "on", "y"}, {"false", "no", "off", "n"}
HIDES_NOTHING = FALSE | {"", "0", "public"}
DRAFT_FOLDER = "_drafts"


def read_state(meta: Table, path: PurePath, release: datetime | None) -> tuple[PostStatus | None, str]:
    """Return the status that a file states, and why it is a draft if it does not say so in our words."""
    status = normalize_word(meta.get("status"))
    reason = find_draft_reason(meta, path)
    if reason or status == PostStatus.DRAFT:
        return PostStatus.DRAFT, "" if status == PostStatus.DRAFT else f"A draft, because {reason}."
    is_wordpress = status in ("publish", "public", "future") or (status == "scheduled" and "publishAt" not in meta)
    if is_wordpress and release and release > timezone.now():
        return None, ""  # the date makes a scheduled post
    if status in ("publish", "public"):
        return PostStatus.PUBLISHED, ""
    if status and status not in PostStatus.values:
        return PostStatus.DRAFT, f"A draft, because status is {format_for_message(meta['status'])}."
    return PostStatus(status) if status else None, ""


def find_draft_reason(meta: Table, path: PurePath) -> str:
    """Return why a file is a draft, or an empty string."""
    for key in HIDING_KEYS:
        if not is_hiding_nothing(meta.get(key)):
            return f"{key} is set" if key == "password" else f"{key} is {format_for_message(meta[key])}"
    if is_flag(meta.get("published")) and normalize_word(meta["published"]) in FALSE:
        return "published is false"
    if normalize_word(meta.get("publish")) not in TRUE | {"", "1", "public"}:
        return f"publish is {format_for_message(meta['publish'])}"
    is_in_folder = DRAFT_FOLDER in map(str.lower, path.parent.parts)
    return "the file is in a folder _drafts" if is_in_folder else ""


def is_hiding_nothing(value: Any) -> bool:
    """Whether one of `HIDING_KEYS` with this value hides no page."""
    return normalize_word(value) in HIDES_NOTHING


def is_flag(value: Any) -> bool:
    """Whether a value is true or false, in YAML or in words. Jekyll's `published` is; Hugo's is a date."""
    return isinstance(value, bool) or (isinstance(value, str) and normalize_word(value) in TRUE | FALSE)


def normalize_word(value: Any) -> str:
    """Return a value in lower case; an empty text for none. A collection is no word that has a meaning."""
    return "" if value is None else str(value).strip().lower()
