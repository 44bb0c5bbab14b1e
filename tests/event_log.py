"""Reads events as the feed shows them, after the relay has moved them to the log."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

from contentapi.events.models import Event
from contentapi.events.partitions import prepare_partitions
from contentapi.events.relay import EVENTS_PER_BATCH, move_events

IS_READY = """
    SELECT to_regclass('events_event_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')) IS NOT NULL FROM events_log
"""


def begin_log() -> None:
    """Make the row of the log, which tests with transactions remove, and the partitions, unless both are there."""
    with connection.cursor() as cursor:
        cursor.execute(IS_READY)
        if cursor.fetchone() != (True,):
            prepare_partitions()


def relay() -> None:
    """Move all events that wait to the log."""
    begin_log()
    while move_events() == EVENTS_PER_BATCH:
        pass


@contextmanager
def collect_events() -> Iterator[list[Event]]:
    """Add the events of the block to the list, in their order, at its end."""
    relay()
    last = Event.objects.order_by("-position").values_list("position", flat=True).first() or 0
    found: list[Event] = []
    yield found
    relay()
    found += Event.objects.filter(position__gt=last).order_by("position")


def describe(events: list[Event]) -> list[tuple[str, Any, Any]]:
    """Return type, old and new state of each event."""
    return [(event.type, event.was, event.now) for event in events]
