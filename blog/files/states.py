"""Whether a file is public: by its keys, the states of WordPress and the folder of drafts. In doubt, it is a draft."""

from datetime import datetime
from pathlib import PurePath
from typing import Any

from django.utils import timezone

from blog.files.dates import format_for_message
from blog.files.keys import HIDING_KEYS, PAGE_KEYS, SHOWING_KEYS
from blog.files.syntax import Table
from blog.models import PostStatus

TRUE, FALSE = {"true", "yes", "on", "y"}, {"false", "no", "off", "n"}
HIDES_NOTHING = FALSE | {"", "0", "public"}
BUILD_KEYS = ("build", "_build")  # of Hugo
DRAFT_FOLDERS = {"_drafts", "drafts"}


def read_state(meta: Table, path: PurePath, release: datetime | None) -> tuple[PostStatus | None, str]:
    """Return the status that a file states, and why it is a draft if it does not say so in our words."""
    stated = meta.get("status", meta.get("post_status"))
    status = normalize_word(stated)
    reason = find_draft_reason(meta, path)
    if status == PostStatus.DRAFT:
        return PostStatus.DRAFT, ""
    if reason:
        return PostStatus.DRAFT, f"A draft, because {reason}."
    is_of_wordpress = status in ("publish", "public", "future")
    is_scheduled_elsewhere = status == PostStatus.SCHEDULED and "publishAt" not in meta
    is_in_future = release is not None and release > timezone.now()
    if is_in_future and (is_of_wordpress or is_scheduled_elsewhere):
        return None, ""  # the date makes a scheduled post
    if status in ("publish", "public"):
        return PostStatus.PUBLISHED, ""
    if is_scheduled_elsewhere or (status and status not in PostStatus.values):
        return PostStatus.DRAFT, f"A draft, because status is {format_for_message(stated)}."
    return PostStatus(status) if status else None, ""


def find_draft_reason(meta: Table, path: PurePath) -> str:
    """Return why a file is a draft, or an empty string."""
    for key in (*HIDING_KEYS, *SHOWING_KEYS, *PAGE_KEYS):
        if is_hiding(key, meta.get(key)):
            is_shown = key not in ("password", *BUILD_KEYS)
            return f"{key} is {format_for_message(meta[key]) if is_shown else 'set'}"
    folders = DRAFT_FOLDERS.intersection(map(str.lower, path.parent.parts))
    return f"the file is in a folder {folders.pop()}" if folders else ""


def is_hiding(key: str, value: Any) -> bool:
    """Whether a key with this value hides a page from readers, or says that there is no page."""
    word = normalize_word(value)
    if key in HIDING_KEYS:
        return word not in HIDES_NOTHING
    if key == "publish":
        return word not in TRUE | {"", "1", "public"}
    if key in BUILD_KEYS:
        return isinstance(value, dict) and normalize_word(value.get("render")) not in TRUE | {"", "always"}
    return key in ("published", "permalink", "render") and is_flag(value) and word in FALSE


def is_flag(value: Any) -> bool:
    """Whether a value is true or false, in YAML or in words. Jekyll's `published` is; Hugo's is a date."""
    return isinstance(value, bool) or (isinstance(value, str) and normalize_word(value) in TRUE | FALSE)


def normalize_word(value: Any) -> str:
    """Return a value in lower case; an empty text for none. A collection is no word that has a meaning."""
    return "" if value is None else str(value).strip().lower()
