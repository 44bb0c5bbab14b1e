"""DateTime: serialized as PostgreSQL does, parsed from RFC 3339 with an offset."""

import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from graphql import GraphQLError
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contentapi.db.statements import fetch_column
from contentapi.graphql.scalars import parse_date_time, serialize_date_time

OFFSETS = st.integers(-15 * 60 - 59, 15 * 60 + 59).map(
    lambda minutes: timezone(timedelta(minutes=minutes))
)  # the range of PostgreSQL
MOMENTS = st.datetimes(
    min_value=datetime(1, 1, 2),  # noqa: DTZ001 - Hypothesis requires bounds without a zone
    max_value=datetime(9999, 12, 30),  # noqa: DTZ001
    timezones=OFFSETS,
)
WRONG = "A DateTime is a string like 2026-11-21T09:30:00+00:00, with its offset from UTC."


def as_postgresql_prints(moment: datetime) -> str:
    text: str = json.loads(fetch_column("SELECT to_json(%s::timestamptz)::text", [moment])[0])
    return text


@pytest.mark.property
@pytest.mark.django_db
@settings(deadline=None)
@given(MOMENTS)
@example(datetime(1, 1, 1, tzinfo=UTC))
@example(datetime(999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC))
@example(datetime(2026, 11, 21, 9, 30, 0, 100_000, tzinfo=UTC))
@example(datetime(2026, 11, 21, 9, 30, 0, 1, tzinfo=UTC))
@example(datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC))
def test_time_is_serialized_as_postgresql_does(moment: datetime) -> None:
    assert serialize_date_time(moment) == as_postgresql_prints(moment)


@given(MOMENTS)
def test_time_with_offset_is_parsed_to_utc(moment: datetime) -> None:
    read = parse_date_time(moment.isoformat())

    assert (read, read.tzinfo) == (moment, UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-21T09:30:00Z", datetime(2026, 11, 21, 9, 30, tzinfo=UTC)),
        ("2026-11-21t09:30:00z", datetime(2026, 11, 21, 9, 30, tzinfo=UTC)),
        ("2026-11-21T09:30:00.25-05:30", datetime(2026, 11, 21, 15, 0, 0, 250_000, tzinfo=UTC)),
        ("2024-02-29T00:00:00+14:00", datetime(2024, 2, 28, 10, 0, tzinfo=UTC)),
    ],
)
def test_rfc_3339_is_parsed(text: str, moment: datetime) -> None:
    assert parse_date_time(text) == moment


@pytest.mark.parametrize(
    "value",
    [
        "",
        "2026-11-21",
        "2026-11-21T09:30:00",
        "2026-11-21T09:30Z",
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-11-21T24:00:00Z",
        "2026-11-21T09:30:00+25:00",
        " 2026-11-21T09:30:00Z",
        "2026-11-21T09:30:00Z\0",
        "20261-11-21T09:30:00Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        "٢٠٢٦-11-21T09:30:00Z",
        1_763_717_400,
        None,
    ],
)
def test_other_value_is_rejected(value: Any) -> None:
    with pytest.raises(GraphQLError) as raised:
        parse_date_time(value)

    assert raised.value.message == WRONG


@pytest.mark.property
@given(st.text() | st.from_regex(r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9:.]{5,20}([Zz]|[-+][0-9:]{4,6})?\Z"))
def test_any_text_is_parsed_or_rejected(text: str) -> None:
    moment = None
    with suppress(GraphQLError):
        moment = parse_date_time(text)

    assert moment is None or parse_date_time(serialize_date_time(moment)) == moment
