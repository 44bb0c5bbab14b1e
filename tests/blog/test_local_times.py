"""Times typed in the time zone of a browser: gaps, overlaps, and what the page sends back unchanged."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from django.core.exceptions import ValidationError
from hypothesis import given, settings
from hypothesis import strategies as st

from blog.desk.local_times import LocalTimeField, LocalTimeWidget, find_moments, resolve_time
from tests.thoroughness import scale_examples

BERLIN = "Europe/Berlin"
OVERLAP = "2027-10-31T02:30"
FIRST, SECOND = datetime(2027, 10, 31, 0, 30, tzinfo=UTC), datetime(2027, 10, 31, 1, 30, tzinfo=UTC)


def test_typed_time_is_a_moment_in_the_zone_of_the_browser() -> None:
    for typed, moment in [
        (("2027-05-03T09:00", BERLIN, ""), datetime(2027, 5, 3, 7, tzinfo=UTC)),
        (("2027-05-03T09:00:05", "Pacific/Auckland", ""), datetime(2027, 5, 2, 21, 0, 5, tzinfo=UTC)),
        (("2027-05-03T09:00", "", ""), datetime(2027, 5, 3, 9, tzinfo=UTC)),
        ((OVERLAP, BERLIN, FIRST.isoformat()), FIRST),
        ((OVERLAP, BERLIN, SECOND.isoformat()), SECOND),
        (("2027-05-03T09:00", BERLIN, FIRST.isoformat()), datetime(2027, 5, 3, 7, tzinfo=UTC)),  # of another time
    ]:
        assert resolve_time(*typed) == moment


def test_time_that_the_clocks_skip_is_refused() -> None:
    with pytest.raises(ValidationError, match="The clocks of Europe/Berlin skip this time: 02:30 does not exist"):
        resolve_time("2027-03-28T02:30", BERLIN, "")


def test_page_offers_both_moments_of_a_time_that_is_shown_twice() -> None:
    html = LocalTimeWidget().render("at", [OVERLAP, BERLIN, SECOND.isoformat()])

    assert '<option value="2027-10-31T00:30:00+00:00">the earlier, 2027-10-31T02:30:00+02:00</option>' in html
    assert '<option value="2027-10-31T01:30:00+00:00" selected>the later, 2027-10-31T02:30:00+01:00</option>' in html


def test_bad_time_or_zone_is_an_error_of_the_field() -> None:
    for text, zone in [
        ("tomorrow", ""),
        ("2027-05-03T09:00+01:00", ""),
        ("2027-05-03T09:00", "Mars/Olympus"),
        ("2027-05-03T09:00", "../../etc/passwd"),
        ("2027-05-03T09:00", "Europe"),
        ("2027-05-03T09:00", "x" * 1000),
        ("2027-05-03T09:00", "A\0"),
        ("0001-01-01T00:00", BERLIN),
        ("9999-12-31T23:59", "America/New_York"),
    ]:
        with pytest.raises(ValidationError):
            LocalTimeField().clean([text, zone, ""])


def test_empty_time_is_none() -> None:
    assert LocalTimeField().clean(["", BERLIN, ""]) is None
    with pytest.raises(ValidationError):
        LocalTimeField(required=True).clean(["", BERLIN, ""])


MOMENTS = st.integers(-(2**31), 2**33).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))  # 1901 to 2242
ZONES = st.sampled_from(sorted(available_timezones()))


def show_clock(moment: datetime, zone_name: str) -> datetime:
    return moment.astimezone(ZoneInfo(zone_name)).replace(tzinfo=None, fold=0)


@pytest.mark.property
@settings(max_examples=scale_examples(600), deadline=None)
@given(MOMENTS, ZONES)
def test_typed_time_is_its_moment_or_a_question_that_has_it(moment: datetime, zone_name: str) -> None:
    text = show_clock(moment, zone_name).isoformat()

    moments = find_moments(text, zone_name)

    assert moment in moments
    assert len(moments) in (1, 2)
    assert resolve_time(text, zone_name, moment.isoformat()) == moment
    if len(moments) == 1:
        assert resolve_time(text, zone_name, "") == moment
    else:
        with pytest.raises(ValidationError):
            resolve_time(text, zone_name, "")


@pytest.mark.property
@settings(max_examples=scale_examples(600), deadline=None)
@given(MOMENTS, ZONES)
def test_moment_that_the_browser_shows_in_its_zone_has_not_changed(moment: datetime, zone_name: str) -> None:
    moment += timedelta(microseconds=345678)
    shown = show_clock(moment, zone_name).isoformat(timespec="seconds")

    assert not LocalTimeField().has_changed(moment, [shown, zone_name, moment.isoformat()])
    assert LocalTimeField().has_changed(moment + timedelta(days=400), [shown, zone_name, moment.isoformat()])
