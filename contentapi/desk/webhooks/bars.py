"""The bars of the last 24 hours: rectangles of an SVG image of 239 by 60 units. A table has the same numbers."""

from typing import NamedTuple

from contentapi.events.webhooks.inspection import Hour, Hours

STEP, HEIGHT = 10, 60  # units; a bar has a width of 9
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


def build_bars(hours: Hours) -> list[Bar]:
    """Return a bar for each hour: what was delivered below what waits and what failed."""
    most = max((hour.total for hour in hours.hours), default=0)
    return [Bar(hour, number * STEP, build_parts(hour, most)) for number, hour in enumerate(hours.hours)]


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
