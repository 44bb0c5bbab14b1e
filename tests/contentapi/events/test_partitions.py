"""The partitions of the log are made ahead. Old events expire a day before their partition is dropped."""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import psycopg
import pytest
from django.db import DEFAULT_DB_ALIAS, connections
from pytest_django import Settings

from contentapi.db.statements import execute
from contentapi.events.feed import read_log
from contentapi.events.models import Event, Log
from contentapi.events.partitions import (
    CREATE,
    DAYS_AHEAD,
    drop_partition,
    expire_events,
    list_partitions,
    prepare_partitions,
    read_today,
)
from tests.environment import set_environment

OLD = "events_event_20010203"


@pytest.fixture
def today() -> date:
    return read_today()


def list_days() -> set[date]:
    return set(list_partitions())


def make_old_event(day: date, position: int) -> str:
    """Add a partition of a day with an event, and return its name."""
    name = f"events_event_{day:%Y%m%d}"
    execute(CREATE.format(table="events_event", name=name, day=day, next_day=day + timedelta(days=1)))
    values = {"type": "author.created", "timestamp": f"{day}T00:00Z", "subject_id": 1, "is_public": True}
    Event.objects.create(position=position, day=day, **values)
    Log.objects.update(position=position)
    return name


def test_partitions_are_made_for_today_and_the_days_ahead(today: date) -> None:
    prepare_partitions()
    prepare_partitions()

    assert {today + timedelta(days=number) for number in range(DAYS_AHEAD + 1)} <= list_days()


@pytest.mark.parametrize(("age", "is_expired", "is_dropped"), [(30, False, False), (31, True, False), (32, True, True)])
def test_events_expire_and_their_partition_is_dropped_a_day_later(
    today: date, age: int, *, is_expired: bool, is_dropped: bool
) -> None:
    day = today - timedelta(days=age)
    make_old_event(day, position=7)

    expire_events()

    assert read_log().expired == (7 if is_expired else 0)
    assert day in list_days()  # readers of the state before may be reading it
    expire_events()
    assert (day in list_days()) is not is_dropped


def test_partition_of_another_name_is_left_alone(today: date) -> None:
    execute("CREATE TABLE kept PARTITION OF events_event FOR VALUES FROM ('2001-01-01') TO ('2001-01-02')")

    expire_events()
    prepare_partitions()

    assert today in list_days()


def test_setting_decides_how_long_events_are_kept(today: date, settings: Settings) -> None:
    set_environment(settings, CONTENTAPI_EVENTS_KEEP="2")
    make_old_event(today - timedelta(days=3), position=7)

    expire_events()

    assert read_log().expired == 7


@pytest.fixture
def reader() -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(**connections[DEFAULT_DB_ALIAS].get_connection_params()) as opened:
        yield opened


@pytest.mark.django_db(transaction=True)
def test_partition_that_a_backup_reads_is_dropped_later(reader: psycopg.Connection[Any]) -> None:
    make_old_event(date(2001, 2, 3), position=7)
    reader.execute("SELECT count(*) FROM events_event_20010203")

    assert not drop_partition(OLD)
    Log.objects.update(expired=7)
    expire_events()  # tries again, without an error
    assert date(2001, 2, 3) in list_days()

    reader.commit()

    assert drop_partition(OLD)
    Log.objects.update(position=0, expired=0)
