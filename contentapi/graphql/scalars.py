"""Serialize and parse the scalar DateTime."""

from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec
from ariadne import ScalarType
from graphql import GraphQLError

DATE_TIME = ScalarType("DateTime")
Moment = Annotated[datetime, msgspec.Meta(tz=True)]


@DATE_TIME.serializer
def serialize_date_time(value: datetime) -> str:
    """Return a time in the format of PostgreSQL's `json`: ISO 8601 in UTC, without trailing zeros."""
    text = value.astimezone(UTC).isoformat()
    if value.microsecond:
        seconds, offset = text[:-6], text[-6:]
        return seconds.rstrip("0") + offset
    return text


@DATE_TIME.value_parser
def parse_date_time(value: Any) -> datetime:
    """Parse an RFC 3339 time with an offset. Raises `GraphQLError` for other values and for years outside 1 to 9999."""
    try:
        return msgspec.convert(value, Moment).astimezone(UTC)
    except (msgspec.ValidationError, OverflowError):
        raise GraphQLError("A DateTime is a string like 2026-11-21T09:30:00+00:00, with its offset from UTC.") from None
