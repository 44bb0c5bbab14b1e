"""The rules that a post must meet, and the transitions of its status. Each function raises `Invalid` or `Conflict`."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone

from blog.models import CONTENT, CONTENT_FIELDS, OPTIONAL, SLUG, ContentField, Kind, PostStatus
from blog.rendering import count_images
from blog.rendering.limits import MAX_IMAGES
from contentapi.core.errors import Conflict, Invalid
from contentapi.core.pagination import parse_id
from contentapi.core.text import convert_to_camel

NAMES = frozenset(CONTENT)
# Each access to a member of an enum takes time.
SUMMARY, WORDS, MARKDOWN, IMAGE, IMAGE_TEXT = Kind.SUMMARY, Kind.WORDS, Kind.MARKDOWN, Kind.IMAGE, Kind.IMAGE_TEXT
SCHEDULED = PostStatus.SCHEDULED
TRANSITIONS: dict[str, set[PostStatus]] = {
    PostStatus.DRAFT: {PostStatus.SCHEDULED, PostStatus.PUBLISHED, PostStatus.ARCHIVED},
    PostStatus.SCHEDULED: {PostStatus.DRAFT, PostStatus.PUBLISHED},
    PostStatus.PUBLISHED: {PostStatus.DRAFT, PostStatus.ARCHIVED},
    PostStatus.ARCHIVED: {PostStatus.DRAFT},
}
UNKNOWN_IMAGE = "There is no image with this id."
NULLABLE = {*OPTIONAL, "publish_at", "published_at"}
NOTHING = dict.fromkeys(OPTIONAL)
PATTERNS = {  # of the addresses, with the description of what does not match
    "slug": (SLUG, "Only the characters a-z, 0-9 and - are allowed, at least one of them."),
    "canonical_url": (
        re.compile(r"https?://[^\s/?#\\\"<>]+([/?#][^\s\\\"<>]*)?", re.IGNORECASE),
        "This must be an absolute http or https URL.",
    ),
}


def require_no_null(changes: Mapping[str, Any]) -> None:
    """Raise `Invalid` for a null, except of the fields that can be null."""
    problems = {
        convert_to_camel(name): ["This must not be null."]
        for name, value in changes.items()
        if value is None and name not in NULLABLE
    }
    if problems:
        raise Invalid(problems)


def validate_post(content: Mapping[str, Any], *, body_before: str = "") -> dict[str, Any]:
    """Return the content of a post as it is stored: lines and words without spaces at their ends. Raises `Invalid`.

    A missing field is empty, and `own` is as it is stored. `body_before` is the text that may keep its images.
    """
    require_known_names(content)
    values: dict[str, Any] = {**NOTHING, "own": content.get("own", {})}
    problems: dict[str, list[str]] = {}
    for field in CONTENT_FIELDS:
        name = field.name
        value = content.get(name)
        if value is None and name in NOTHING:
            continue
        value = values[name] = normalize(field, value)
        if found := list_problems(field, value):
            problems[field.api_name] = found
    number = 0 if values["body"] == body_before or "body" in problems else count_images(values["body"])
    if number > MAX_IMAGES and number > count_images(body_before):
        problems["body"] = [f"At most {MAX_IMAGES} images are allowed (got {number})."]
    if problems:
        raise Invalid(problems)
    return values


def require_known_names(content: Mapping[str, Any]) -> None:
    if not content.keys() <= NAMES:
        raise TypeError(f"A post has no {', '.join(sorted(content.keys() - NAMES))}.")


def normalize(field: ContentField, value: Any) -> Any:
    if field.kind is WORDS:
        return [word.strip() for word in value or ()]
    if field.kind is IMAGE:
        return parse_id(value) if isinstance(value, str) else value
    if field.kind is MARKDOWN:
        return value or ""
    text = (value or "").strip()
    return text or None if field.kind in (SUMMARY, IMAGE_TEXT) else text


def list_problems(field: ContentField, value: Any) -> list[str]:
    """Return why a value of a field cannot be stored."""
    if value is None:
        return []
    if field.kind is WORDS:
        return list_word_problems(field, value) if value else []
    if field.kind is IMAGE:
        return [] if value > 0 else [UNKNOWN_IMAGE]
    if not value and field.is_required:
        return ["This must not be empty."]
    if len(value) > field.longest:
        return [f"At most {field.longest} characters are allowed (got {len(value)})."]
    if field.name in PATTERNS and not PATTERNS[field.name][0].fullmatch(value):
        return [PATTERNS[field.name][1]]
    return []


def list_word_problems(field: ContentField, words: Sequence[str]) -> list[str]:
    problems = []
    if len(words) > field.most_words:
        problems.append(f"At most {field.most_words} {field.label} are allowed (got {len(words)}).")
    if any(not 1 <= len(word) <= field.longest for word in words):
        problems.append(f"Each {field.item} must have from 1 to {field.longest} characters.")
    if len(set(words)) < len(words):
        problems.append(f"{field.label.capitalize()} must be unique.")
    return problems


def validate_transition(old: str, new: str, publish_at: datetime | None) -> None:
    """Raise `Conflict` for a transition that is not in `TRANSITIONS`, `Invalid` for a wrong time of publication.

    A new post starts as a draft: the transition from draft to draft is allowed.
    """
    if new not in TRANSITIONS[old] and (old, new) != (PostStatus.DRAFT, PostStatus.DRAFT):
        raise Conflict(f"A post that is {old} cannot become {new}.")
    validate_publish_at(new, publish_at)


def validate_publish_at(status: str, publish_at: datetime | None) -> None:
    """Raise `Invalid` unless exactly a scheduled post has a time of publication, and the time is in the future."""
    if status != SCHEDULED:
        if publish_at is not None:
            raise Invalid({"publishAt": ["Only a scheduled post has a time of publication."]})
    elif publish_at is None:
        raise Invalid({"publishAt": ["A scheduled post needs a time of publication."]})
    else:
        require_future(publish_at)


def require_future(publish_at: datetime) -> None:
    if publish_at <= timezone.now():
        raise Invalid({"publishAt": ["The time of publication must be in the future."]})


def validate_published_at(status: str, published_at: datetime | None) -> None:
    """Raise `Invalid` for a time in the future, and for a published post without a time."""
    if published_at is None:
        if status == PostStatus.PUBLISHED:
            raise Invalid({"publishedAt": ["A published post needs the time at which it was published."]})
    elif published_at > timezone.now():
        raise Invalid({"publishedAt": ["The time at which a post was published must not be in the future."]})
