"""Dates and times as people write them in front matter. Without a time zone they are in UTC.

Read are ISO 8601, `2024/01/09`, `January 8, 2024`, `8 Jan 2024`, RFC 2822 and what JavaScript, Go, Java and `date`
write, each with or without a time, and a zone as an offset, by a name of `ZONES` or by one such as Europe/Berlin. A
date such as 01/02/2024 has two meanings and is refused.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from pathlib import PurePath
from textwrap import shorten
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from blog.files.syntax import InvalidFile

HOURS_FROM_UTC = {
    "UTC": 0, "UT": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "MET": 1, "MEST": 2,
    "EET": 2, "EEST": 3, "SAST": 2, "MSK": 3, "PKT": 5, "WIB": 7, "HKT": 8, "SGT": 8, "AWST": 8, "PHT": 8, "JST": 9,
    "KST": 9, "ACST": 9.5, "ACDT": 10.5, "NPT": 5.75, "NST": -3.5, "NDT": -2.5, "BRT": -3, "ART": -3, "AEST": 10,
    "AEDT": 11, "NZST": 12, "NZDT": 13, "AST": -4, "ADT": -3, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7,
    "MDT": -6, "PST": -8, "PDT": -7, "AKST": -9, "AKDT": -8, "HST": -10,
}  # fmt: skip
ZONES = {name: timezone(timedelta(hours=hours)) for name, hours in HOURS_FROM_UTC.items()}
DATE_FORMATS = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y年%m月%d日", "%B %d %Y", "%b %d %Y", "%d %B %Y", "%d %b %Y", "%Y %B %d",
    "%Y %b %d", "%d-%b-%Y",
)  # fmt: skip

# A date in the name of a file or in its folders: 2015-05-15-soup, 2015_5_15_soup, 20150515-soup, 2015/05/15/soup
FILE_NAME = re.compile(
    r"(?:^|/)(?:(\d{4})(?P<mark>[-_./ ])(\d{1,2})(?P=mark)(\d{1,2})|((?:19|20)\d\d)(0[1-9]|1[0-2])([0-2]\d|3[01]))"
    r"(?:T\d\d[-:_]?\d\d(?:[-:_]?\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?(?:[-_. /]+|$)(?P<rest>[^/]*)$"
)
INDEX = re.compile(r"index(?:\.[a-z]{2}(?:-[a-z]+)?)?", re.IGNORECASE)
DATE_IN_ADDRESS = re.compile(r"(?:^|/)(\d{4})/(\d{2})/(\d{2})(?=/|$)")
WEEKDAY = re.compile(r"^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?[.,]? ", re.IGNORECASE)
ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b", re.IGNORECASE)
SEPTEMBER = re.compile(r"\bSept\b", re.IGNORECASE)  # strptime knows Sep
AFTER_LETTER_OR_DAY = re.compile(r"(?<=[A-Za-z])\.|,")
ZONE = (
    r"(?P<zone>(?:(?:GMT|UTC)(?=[+-]))?[+-]\d{1,2}(?::?\d{2}(?::?\d{2})?)?|[A-Za-z]\w*(?:[/+_-]\w+)*)"
    r"(?: [A-Z]{1,5})?"  # Go writes the abbreviation after the offset
)
TIME = re.compile(
    r"(?:,? at |, ?|[ T])(?P<hour>\d{1,2}):(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:[.,](?P<fraction>\d+))?)?"
    rf" ?(?P<half>[ap]\.?m\.?(?![a-z]))?(?: ?{ZONE})?(?P<year> \d{{4}})?$",
    re.IGNORECASE,
)
ZONE_AFTER_DATE = re.compile(rf" {ZONE}$")
# The name of the zone in JavaScript and Java, and Go's clock
COMMENT = re.compile(r" ?(?:\([^()]*\)|\[[^\[\]]*\]| m=[+-][\d.]+)$")
OFFSET = re.compile(r"(?:GMT|UTC)?(?P<sign>[+-])(?P<hours>\d\d?):?(?P<minutes>\d\d)?:?(?P<seconds>\d\d)?")
AMBIGUOUS = re.compile(r"^\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})\b")

WRITE_DATE = "Write the date as 2024-01-09."
WRITE_TIME = "Write the time as 2024-01-09T10:00:00+01:00."
DATES_OF_FILES = {"created", "last modified", "git created", "git last modified"}  # of Eleventy


class InvalidDate(InvalidFile):
    """The value is not a date. The message has the key, the value and what to write instead."""


class Unclear(ValueError):
    """What is wrong with a date, and what to write instead."""


def parse_date(value: Any, name: str) -> datetime | None:
    """Return the time in UTC that a value of front matter states; None for an empty value. Raises `InvalidDate`."""
    if value in (None, "") or (isinstance(value, str) and value.strip().lower() in DATES_OF_FILES):
        return None
    try:
        found = parse_date_text(" ".join(value.split())) if isinstance(value, str) else read_date(value)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except Unclear as error:
        problem, remedy = error.args
    except ValueError:
        problem, remedy = "is not a date", WRITE_DATE
    except OverflowError:
        problem, remedy = "is out of range", WRITE_DATE
    raise InvalidDate(f"{name} {problem}: {format_for_message(value)}. {remedy}")


def read_date(value: Any) -> datetime:
    if not isinstance(value, date):
        raise Unclear("is not a date", WRITE_DATE)
    return value if isinstance(value, datetime) else datetime.combine(value, time())


def parse_date_text(text: str) -> datetime:
    """Return the date or time that a text states, without a zone if the text has none. Raises `ValueError`."""
    if AMBIGUOUS.match(text):
        raise Unclear("has two meanings", WRITE_DATE)
    text = COMMENT.sub("", text)
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    text = WEEKDAY.sub("", text)
    match = TIME.search(text)
    if match is None:
        match = ZONE_AFTER_DATE.search(text)
        day = parse_day(text[: match.start()] if match else text)
        return datetime.combine(day, time(), parse_zone(match["zone"] if match else None))
    day = parse_day(text[: match.start()] + (match["year"] or ""))
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


def parse_zone(text: str | None) -> tzinfo | None:
    """Return the zone of a name such as Europe/Berlin or CET, or of an offset such as +0100. Raises `Unclear`."""
    if text is None:
        return None
    name = text.upper()
    found = OFFSET.fullmatch(name)
    if found:
        hours, minutes, seconds = (int(part or 0) for part in found.group("hours", "minutes", "seconds"))
        offset = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        return timezone(-offset if found["sign"] == "-" else offset)
    if name in ZONES:
        return ZONES[name]
    try:
        return ZoneInfo(text)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        raise Unclear(f"has an unknown time zone ({text})", WRITE_TIME) from None


def format_for_message(value: Any) -> str:
    """Return a short text for a value; a value of YAML aliases can be very large."""
    if isinstance(value, bool):
        return repr(value).lower()
    if isinstance(value, date):
        return value.isoformat()
    return shorten(repr(value), 60) if isinstance(value, (str, int, float, date)) else f"a {type(value).__name__}"


def find_date_in_address(addresses: Iterable[Any]) -> datetime | None:
    """Return the date in the URL of the page, as in Zola's path = "2015/05/15/Rust-1.0"."""
    for address in addresses:
        if isinstance(address, str) and (match := DATE_IN_ADDRESS.search(address)):
            return parse_date_match(match.groups(), match.group().strip("/"))
    return None


def split_file_name(path: PurePath) -> tuple[datetime | None, str]:
    """Return the date in the name of a file, or of the folder of an index.md, and the rest of the name."""
    name = re.sub(r"\.html?$", "", path.stem)  # Middleman writes soup.html.md
    parts = [*path.parent.parts, name][-5:]
    if INDEX.fullmatch(parts[-1]):
        parts = parts[:-1] or [""]
    match = FILE_NAME.search("/".join(parts))
    if match is None:
        return None, parts[-1]
    try:
        digits = [each for each in match.group(1, 3, 4, 5, 6, 7) if each]
        return parse_date_match(digits, "-".join(digits)), match["rest"] or parts[-1]
    except InvalidDate:
        if match["mark"] != "-":
            return None, parts[-1]
        raise


def parse_date_match(digits: Sequence[str], shown: str) -> datetime:
    try:
        return datetime.combine(date(*map(int, digits)), time(), UTC)
    except ValueError:
        raise InvalidDate(f"{shown} is not a date. {WRITE_DATE}") from None
