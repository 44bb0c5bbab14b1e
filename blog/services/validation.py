"""The rules that a post must meet, and the transitions of its status. Each function raises `Invalid` or `Conflict`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone

from blog.models import MAX_BODY, MAX_TAG, MAX_TAGS, MAX_TITLE, PostStatus
from contentapi.core.errors import Conflict, Invalid

TRANSITIONS: dict[str, set[PostStatus]] = {
    PostStatus.DRAFT: {PostStatus.SCHEDULED, PostStatus.PUBLISHED, PostStatus.ARCHIVED},
    PostStatus.SCHEDULED: {PostStatus.DRAFT, PostStatus.PUBLISHED},
    PostStatus.PUBLISHED: {PostStatus.DRAFT, PostStatus.ARCHIVED},
    PostStatus.ARCHIVED: {PostStatus.DRAFT},
}


def require_no_null(changes: Mapping[str, Any]) -> None:
    problems = {name: ["This must not be null."] for name, value in changes.items() if value is None}
    if problems:
        raise Invalid(problems)


def validate_post(*, title: str, body: str, tags: Sequence[str]) -> dict[str, Any]:
    """Return the text of a post as it is stored: title and tags without spaces at their ends. Raises `Invalid`."""
    title, tags = title.strip(), [tag.strip() for tag in tags]
    problems = {
        "title": list_length_problems(title, MAX_TITLE) if title else ["This must not be empty."],
        "body": list_length_problems(body, MAX_BODY),
        "tags": list_tag_problems(tags),
    }
    found = {name: messages for name, messages in problems.items() if messages}
    if found:
        raise Invalid(found)
    return {"title": title, "body": body, "tags": tags}


def list_length_problems(text: str, most: int) -> list[str]:
    return [f"At most {most} characters are allowed (got {len(text)})."] if len(text) > most else []


def list_tag_problems(tags: Sequence[str]) -> list[str]:
    problems = []
    if len(tags) > MAX_TAGS:
        problems.append(f"At most {MAX_TAGS} tags are allowed (got {len(tags)}).")
    if any(not 1 <= len(tag) <= MAX_TAG for tag in tags):
        problems.append(f"Each tag must have from 1 to {MAX_TAG} characters.")
    if len(set(tags)) < len(tags):
        problems.append("Tags must be unique.")
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
    if status != PostStatus.SCHEDULED:
        if publish_at is not None:
            raise Invalid({"publishAt": ["Only a scheduled post has a time of publication."]})
    elif publish_at is None:
        raise Invalid({"publishAt": ["A scheduled post needs a time of publication."]})
    elif publish_at <= timezone.now():
        raise Invalid({"publishAt": ["The time of publication must be in the future."]})


def validate_published_at(status: str, published_at: datetime | None) -> None:
    """Raise `Invalid` for a time in the future, and for a published post without a time."""
    if published_at is None:
        if status == PostStatus.PUBLISHED:
            raise Invalid({"publishedAt": ["A published post needs the time at which it was published."]})
    elif published_at > timezone.now():
        raise Invalid({"publishedAt": ["The time at which a post was published must not be in the future."]})
