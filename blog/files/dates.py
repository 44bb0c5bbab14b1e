"""Dates and times as people write them in front matter. Without a time zone they are in UTC.

Read are ISO 8601, `2024/01/09`, `January 8, 2024`, `8 Jan 2024` and RFC 2822, each with or without a time, and a zone
as an offset or by a name of `ZONES`. A date such as 01/02/2024 has two meanings and is refused.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone
from pathlib import PurePath
from textwrap import shorten
from typing import Any

HOURS_FROM_UTC = {
    "UTC": 0, "UT": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3,
    "JST": 9, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13, "AST": -4, "ADT": -3, "EST": -5, "EDT": -4, "CST": -6,
    "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "AKST": -9, "AKDT": -8, "HST": -10,
}  # fmt: skip
ZONES = {name: timezone(timedelta(hours=hours)) for name, hours in HOURS_FROM_UTC.items()}
DATE_FORMATS = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%B %d %Y", "%b %d %Y", "%d %B %Y", "%d %b %Y", "%Y %B %d", "%Y %b %d",
)  # fmt: skip

DATE_IN_NAME = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?=[-_. T]|$)")
DATE_IN_ADDRESS = re.compile(r"(?:^|/)(\d{4})/(\d{2})/(\d{2})(?=/|$)")
WEEKDAY = re.compile(r"^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?[.,]? ", re.IGNORECASE)
ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b", re.IGNORECASE)
SEPTEMBER = re.compile(r"\bSept\b", re.IGNORECASE)  # strptime knows Sep
AFTER_LETTER_OR_DAY = re.compile(r"(?<=[A-Za-z])\.|,")
TIME = re.compile(
    r"(?:,? at |[ T])(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d+))?)?"
    r" ?(?P<half>[ap]\.?m\.?)?(?: ?(?P<zone>[+-]\d{2}:?\d{2}|[+-]\d{2}|[A-Za-z][A-Za-z_/]*))?$",
    re.IGNORECASE,
)
ZONE_AFTER_DATE = re.compile(r" (?P<zone>[A-Za-z]+)$")
AMBIGUOUS = re.compile(r"^\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})\b")

WRITE_DATE = "Write the date as 2024-01-09."
WRITE_TIME = "Write the time as 2024-01-09T10:00:00+01:00."


class InvalidDate(ValueError):
    """The value is not a date. The message has the key, the value and what to write instead."""


class UnknownZone(ValueError):
    pass


def parse_date(value: Any, name: str) -> datetime | None:
    """Return the time in UTC that a value of front matter states; None for an empty value. Raises `InvalidDate`."""
    match value:
        case None | "":
            return None
        case datetime():
            found = value
        case date():
            found = datetime.combine(value, time())
        case str():
            found = parse_date_of_key(value, name)
        case _:
            raise InvalidDate(f"{name} is not a date: {format_for_message(value)}. {WRITE_DATE}")
    try:
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise InvalidDate(f"{name} is out of range: {format_for_message(value)}. {WRITE_DATE}") from None


def parse_date_of_key(text: str, name: str) -> datetime:
    words = " ".join(text.split())
    shown = format_for_message(text)
    if AMBIGUOUS.match(words):
        raise InvalidDate(f"{name} has two meanings: {shown}. {WRITE_DATE}")
    try:
        return parse_date_text(words)
    except UnknownZone as error:
        raise InvalidDate(f"{name} has an unknown time zone ({error}): {shown}. {WRITE_TIME}") from None
    except ValueError:
        raise InvalidDate(f"{name} is not a date: {shown}. {WRITE_DATE}") from None


def parse_date_text(text: str) -> datetime:
    """Return the date or time that a text states, without a zone if the text has none. Raises `ValueError`."""
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    text = WEEKDAY.sub("", text)
    match = TIME.search(text)
    if match is None:
        match = ZONE_AFTER_DATE.search(text)
        day = parse_day(text[: match.start()] if match else text)
        return datetime.combine(day, time(), parse_zone(match["zone"] if match else None))
    day = parse_day(text[: match.start()])
    return datetime.combine(day, parse_time_of_day(match), parse_zone(match["zone"]))


def parse_day(text: str) -> date:
    plain = SEPTEMBER.sub("Sep", ORDINAL.sub("", AFTER_LETTER_OR_DAY.sub(" ", text)))
    for form in DATE_FORMATS:
        with suppress(ValueError):
            return datetime.strptime(" ".join(plain.split()), form).replace(tzinfo=UTC).date()
    raise ValueError(text)


def parse_time_of_day(match: re.Match[str]) -> time:
    hour, half = int(match["hour"]), (match["half"] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            raise ValueError(match[0])
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    microsecond = int((match["fraction"] or "0")[:6].ljust(6, "0"))
    return time(hour, int(match["minute"]), int(match["second"] or 0), microsecond)


def parse_zone(text: str | None) -> timezone | None:
    """Return the zone of a name or an offset such as +0100; None for None. Raises `UnknownZone`."""
    if text is None:
        return None
    if text[0] in "+-":
        digits = text[1:].replace(":", "").ljust(4, "0")
        offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
        return timezone(-offset if text[0] == "-" else offset)
    if text.upper() not in ZONES:
        raise UnknownZone(text)
    return ZONES[text.upper()]


def format_for_message(value: Any) -> str:
    """Return a short text for a value; a value of YAML aliases can be very large."""
    return shorten(repr(value), 60) if isinstance(value, (str, int, float, date)) else f"a {type(value).__name__}"


def find_date_in_address(addresses: Iterable[Any]) -> datetime | None:
    """Return the date in the URL of the page, as in Zola's path = "2015/05/15/Rust-1.0"."""
    for address in addresses:
        if isinstance(address, str) and (match := DATE_IN_ADDRESS.search(address)):
            return parse_date_match(match)
    return None


def find_date_in_file_name(path: PurePath) -> datetime | None:
    """Return the date in the name of the file, or of the folder of an index.md, as in Jekyll's 2015-05-15-title.md."""
    name = path.parent.name if path.stem == "index" else path.stem
    match = DATE_IN_NAME.match(name)
    return parse_date_match(match) if match else None


def parse_date_match(match: re.Match[str]) -> datetime:
    try:
        return datetime.combine(date(*map(int, match.groups())), time(), UTC)
    except ValueError:
        raise InvalidDate(f"{match.group().strip('/')} is not a date. {WRITE_DATE}") from None
