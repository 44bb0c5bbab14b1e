"""Dates as people write them: the formats that are understood, and what the refusal of the others says."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blog.files.dates import ZONES, InvalidDate, parse_date
from tests.thoroughness import scale_examples

DAY = datetime(2024, 1, 9, tzinfo=UTC)
TEN = datetime(2024, 1, 9, 10, tzinfo=UTC)


def test_each_format_of_a_date_is_midnight_in_utc() -> None:
    for text in [
        "2024-01-09", "20240109", "2024/01/09", "2024/1/9", "2024-1-9", "2024.01.09", "January 9, 2024", "Jan 9, 2024",
        "Jan. 9, 2024", "january 9 2024", "9 January 2024", "09 Jan 2024", "January 9th, 2024",
        "Tuesday, January 9, 2024",
        "Tue 9 Jan 2024", "2024 January 9", "January 9, 2024 UTC", " 2024-01-09  ",
    ]:  # fmt: skip
        assert parse_date(text, "date") == DAY


def test_each_format_of_a_time_is_understood() -> None:
    for text in [
        "2024-01-09T10:00:00Z", "2024-01-09 10:00", "2024-01-09 11:00:00 +0100", "2024-01-09 11:00 +01:00",
        "2024-01-09T11:00:00.000+0100", "2024/01/09 10:00", "2024/01/09 10:00:00.0", "2024-01-09 10:00:00 UTC",
        "2024-01-09 10:00:00 GMT", "2024-01-09 10:00 Z", "2024-01-09 05:00 EST", "2024-01-09 06:00 EDT",
        "2024-01-09 04:00 CST", "2024-01-09 05:00 CDT", "2024-01-09 03:00 MST", "2024-01-09 04:00 MDT",
        "2024-01-09 02:00 PST", "2024-01-09 03:00 PDT", "2024-01-09 11:00 CET", "2024-01-09 12:00 CEST",
        "2024-01-09 05:00 est", "Tue, 09 Jan 2024 10:00:00 GMT", "Tue, 09 Jan 2024 11:00:00 +0100",
        "Tue, 9 Jan 2024 05:00:00 EST", "January 9, 2024 10:00", "January 9, 2024 at 10:00 AM",
        "Jan 9, 2024, 10:00 a.m.",
        "9 January 2024 11:00 +01", "2024-01-09 05:00 AM EST",
        "Tue Jan 09 2024 11:00:00 GMT+0100 (Central European Standard Time)", "Tue Jan  9 11:00:00 CET 2024",
        "2024-01-09 11:00:00 Europe/Berlin", "2024-01-09 07:00 America/Argentina/Buenos_Aires",
        "2024-01-09 10:00:00 +00:00:00", "2024-01-09 11:00:30 +01:00:30", "2024-01-09 11:00:00.00 +0100 CET m=+0.1",
        "2024-01-09T11:00+01:00[Europe/Paris]", "2024-01-09 18:00 UTC+8", "2024年1月9日 10:00", "2024-1-9 10:0:0",
        "2024-01-09 19:30 ACST",
    ]:  # fmt: skip
        assert parse_date(text, "date") == TEN


def test_refusal_names_the_key_the_value_and_the_remedy() -> None:
    for value, message in [
        ("01/02/2024", "date has two meanings: '01/02/2024'. Write the date as 2024-01-09."),
        ("01-02-24 10:00", "date has two meanings: '01-02-24 10:00'. Write the date as 2024-01-09."),
        ("soon", "date is not a date: 'soon'. Write the date as 2024-01-09."),
        ("February 30, 2024", "date is not a date: 'February 30, 2024'. Write the date as 2024-01-09."),
        ("2024/01/09 13:00 PM", "date is not a date: '2024/01/09 13:00 PM'. Write the date as 2024-01-09."),
        (
            "2024-01-09 10:00 IST",
            "date has an unknown time zone (IST): '2024-01-09 10:00 IST'. Write the time as 2024-01-09T10:00:00+01:00.",
        ),
        (2024, "date is not a date: 2024. Write the date as 2024-01-09."),
        (
            datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-2))),
            "date is out of range: 9999-12-31T23:00:00-02:00. Write the date as 2024-01-09.",
        ),
        (["2024-01-09"], "date is not a date: a list. Write the date as 2024-01-09."),
        (
            "9999-12-31T23:00:00-10:00",
            "date is out of range: '9999-12-31T23:00:00-10:00'. Write the date as 2024-01-09.",
        ),
    ]:
        with pytest.raises(InvalidDate) as refusal:
            parse_date(value, "date")

        assert str(refusal.value) == message


def test_empty_value_is_no_date() -> None:
    for value in [None, ""]:
        assert parse_date(value, "date") is None


FORMATS = st.sampled_from(
    ["%Y/%m/%d %H:%M:%S", "%B %d, %Y %H:%M:%S", "%d %b %Y %H:%M:%S", "%a, %d %b %Y %H:%M:%S", "%Y-%m-%d %I:%M:%S %p"]
)
MOMENTS = st.datetimes(min_value=datetime(1000, 1, 2), max_value=datetime(9999, 12, 30)).map(  # noqa: DTZ001
    lambda moment: moment.replace(microsecond=0)
)


@pytest.mark.property
@settings(deadline=None, max_examples=scale_examples(2000))
@given(moment=MOMENTS, form=FORMATS, zone=st.sampled_from(sorted(ZONES)))
def test_formatted_time_with_a_zone_is_parsed_to_the_same_time(moment: datetime, form: str, zone: str) -> None:
    assert parse_date(f"{moment.strftime(form)} {zone}", "date") == moment.replace(tzinfo=ZONES[zone])


@pytest.mark.property
@settings(deadline=None, max_examples=scale_examples(2000))
@given(moment=MOMENTS, form=FORMATS, minutes=st.integers(-14 * 60, 14 * 60))
def test_formatted_time_with_an_offset_is_parsed_to_the_same_time(moment: datetime, form: str, minutes: int) -> None:
    zoned = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))

    assert parse_date(zoned.strftime(f"{form} %z"), "date") == zoned
