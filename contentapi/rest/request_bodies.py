"""Decode JSON bodies into typed objects and reject unknown fields. Services check the rules."""

from datetime import UTC, datetime
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from contentapi.core.text import require_storable
from contentapi.http import body


class Body(msgspec.Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """The base class of request bodies. A field without a default is required. `UNSET` marks an omitted field."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, datetime):
                try:
                    setattr(self, name, value.astimezone(UTC))
                except OverflowError:
                    raise ValueError("a time is in the years 1 to 9999 in UTC") from None

    def provided(self) -> dict[str, Any]:
        """Return the fields that were sent, by their names in Python."""
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: value for name, value in values.items() if value is not UNSET}


class EmptyBody(Body):
    """An empty object, or no body."""


class ExpectedVersionBody(Body):
    expected_version: str | None = None


B = TypeVar("B", bound=Body)
get_decoder: Any = cache(msgspec.json.Decoder)  # of a type of bodies


def decode_body(content: bytes, kind: type[B]) -> B:
    """Decode a JSON object. Raises `Malformed` with the position of the error."""
    decoded: B
    decoded, value = body.decode_json(content, get_decoder(kind))
    require_storable(value)
    return decoded
