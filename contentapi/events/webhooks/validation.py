"""The rules for the fields of a webhook."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from contentapi.core.errors import Invalid, Malformed
from contentapi.core.identity import Scope
from contentapi.events.declarations import get_event_types
from contentapi.events.sources import MAX_TYPES
from contentapi.events.webhooks.addresses import validate_url
from contentapi.events.webhooks.models import LONGEST_COALESCE, MAX_NAME
from contentapi.events.webhooks.selections import get_selection


def validate_name(name: str | None) -> str:
    text = (name or "").strip()
    if not 1 <= len(text) <= MAX_NAME or not text.isprintable():
        raise Invalid({"name": [f"From 1 to {MAX_NAME} characters of one line are allowed (got {len(text)})."]})
    return text


def validate_types(types: Collection[str] | None) -> list[str]:
    if not types:
        raise Invalid({"types": [f"From 1 to {MAX_TYPES} types are allowed (got 0)."]})
    try:
        get_event_types().parse(types)
    except Malformed as error:
        raise Invalid({"types": [error.message]}) from None
    return sorted(set(types))


def validate_selection(text: str | None) -> str:
    stripped = (text or "").strip()
    get_selection(stripped)
    return stripped


def validate_coalesce(seconds: float | None) -> int:
    if seconds is None:
        raise Invalid({"coalesce": ["This must not be null."]})
    if seconds != int(seconds) or not 0 <= seconds <= LONGEST_COALESCE:
        raise Invalid({"coalesce": [f"From 0 to {LONGEST_COALESCE} seconds are allowed (got {seconds:g})."]})
    return int(seconds)


def validate_scopes(scopes: Collection[str] | None) -> list[str]:
    if scopes is None:
        raise Invalid({"scopes": ["This must not be null."]})
    for scope in scopes:
        if scope not in Scope.values:
            raise Invalid({"scopes": [f'There is no scope "{scope[:50]}".']})
    return sorted({str(scope) for scope in scopes})


VALIDATIONS: Mapping[str, Callable[[Any], Any]] = {
    "name": validate_name,
    "url": validate_url,
    "types": validate_types,
    "selection": validate_selection,
    "coalesce": validate_coalesce,
    "scopes": validate_scopes,
}
