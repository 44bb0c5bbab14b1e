"""The bars of the last 24 hours: rectangles of an SVG image. A table has the same numbers."""

from typing import NamedTuple

from contentapi.events.webhooks.inspection import Hour, Hours

WIDTH, GAP, HEIGHT = 9, 1, 60  # units of the image
SMALLEST = 2  # of a part that is not empty, so that one failure among thousands is seen


class Part(NamedTuple):
    """A rectangle: the state, and its place from the top."""

    state: str
    y: int
    height: int


class Bar(NamedTuple):
    hour: Hour
    x: int
    parts: list[Part]


class Bars(NamedTuple):
    """The bars, and the size of the image."""

    bars: list[Bar]
    width: int
    height: int = HEIGHT
    bar_width: int = WIDTH


def build_bars(hours: Hours) -> Bars:
    """Return a bar for each hour: what was delivered below what waits and what failed."""
    most = max((hour.total for hour in hours.hours), default=0)
    bars = [
        Bar(hour, number * (WIDTH + GAP), build_parts(hour, most) if hour.total else [])
        for number, hour in enumerate(hours.hours)
    ]
    return Bars(bars, len(bars) * (WIDTH + GAP) - GAP)


def build_parts(hour: Hour, most: int) -> list[Part]:
    """Return the parts of a bar, from the bottom. The highest bar has the height of the image."""
    counts = {"delivered": hour.delivered, "waiting": hour.waiting, "failed": hour.failed}
    smallest = {state: SMALLEST for state, count in counts.items() if count}
    room = HEIGHT - sum(smallest.values())
    parts, y = [], HEIGHT
    for state, least in smallest.items():
        height = least + room * counts[state] // most
        y -= height
        parts.append(Part(state, y, height))
    return parts
