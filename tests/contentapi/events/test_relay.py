"""The relay gives each event that was committed one position, whatever happens to it."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import product
from threading import Event as StopEvent
from threading import Thread
from time import sleep
from typing import Any

import psycopg
import pytest
from django.db import DEFAULT_DB_ALIAS, OperationalError, connection, connections, transaction

from contentapi.background import maintain_partitions
from contentapi.db.statements import execute
from contentapi.events import relay
from contentapi.events.models import Event, Log, OutboxEvent
from contentapi.events.partitions import list_partitions, prepare_partitions
from contentapi.events.relay import CHANNEL, RELAY_LOCK, Relay, move_events
from contentapi.monitoring.figures import FIGURES
from tests.factories import make_author

with_transactions = pytest.mark.django_db(transaction=True)  # which another connection sees


@pytest.fixture(autouse=True)
def partitions() -> None:
    prepare_partitions()


@pytest.fixture
def other() -> Iterator[psycopg.Connection[Any]]:
    """Another connection to the database of the test."""
    with psycopg.connect(**connections[DEFAULT_DB_ALIAS].get_connection_params()) as opened:
        yield opened


def list_names() -> list[int]:
    return list(Event.objects.order_by("position").values_list("subject_id", flat=True))


def require_gapless_positions() -> None:
    positions = list(Event.objects.order_by("position").values_list("position", flat=True))
    end = Log.objects.get().position
    assert positions == list(range(end - len(positions) + 1, end + 1))


@with_transactions
def test_event_of_a_late_commit_gets_a_later_position(other: psycopg.Connection[Any]) -> None:
    late = other.execute("INSERT INTO blog_author (name, bio, avatar_url, email, created_at) "
                         "VALUES ('Late', '', '', '', now()) RETURNING id").fetchone()  # fmt: skip
    early = make_author()
    assert move_events() == 1
    assert list_names() == [early.pk]

    other.commit()

    assert move_events() == 1
    assert late is not None
    assert list_names() == [early.pk, late[0]]
    require_gapless_positions()


def test_event_that_is_rolled_back_has_no_position() -> None:
    make_author()
    with transaction.atomic():
        make_author()
        transaction.set_rollback(True)
    make_author()

    assert move_events() == 2
    require_gapless_positions()


@with_transactions
def test_one_relay_works_at_a_time(other: psycopg.Connection[Any]) -> None:
    make_author()
    other.execute("SELECT pg_advisory_xact_lock(%s)", [RELAY_LOCK])
    assert move_events() == 0

    other.commit()

    assert move_events() == 1


@with_transactions
def test_readers_are_notified_once_for_a_batch(other: psycopg.Connection[Any]) -> None:
    other.autocommit = True
    other.execute(f"LISTEN {CHANNEL}")
    for _ in range(3):
        make_author()

    move_events()
    move_events()

    assert len(list(other.notifies(timeout=10, stop_after=1))) == 1
    assert list(other.notifies(timeout=0)) == []


@with_transactions
def test_batch_waits_while_another_transaction_changes_the_row_of_the_log(other: psycopg.Connection[Any]) -> None:
    authors = [make_author().pk]
    move_events()  # the epoch is that of this database now
    authors += [make_author().pk, make_author().pk]
    other.execute("UPDATE events_log SET epoch = 'another'")
    thread = Thread(target=move_and_close)
    thread.start()
    waiting = (
        "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid)))"
    )
    while thread.is_alive() and other.execute(waiting).fetchone() != (True,):
        sleep(0.01)
    other.commit()
    thread.join()

    assert list_names() == authors
    assert Log.objects.get().epoch == "another"
    require_gapless_positions()


def move_and_close() -> None:
    try:
        move_events()
    finally:
        connection.close()


STEPS = 3  # statements of `move_events`: the lock, the batch, the notification


@with_transactions
def test_relay_that_is_killed_loses_and_repeats_nothing(other: psycopg.Connection[Any]) -> None:
    other.autocommit = True
    authors: list[int] = []

    for step, is_done in product(range(STEPS), (False, True)):
        authors += [make_author().pk for _ in range(3)]
        with suppress(OperationalError), connection.execute_wrapper(Killer(other, step, is_done=is_done)):
            move_events()
        connection.close()
        move_events()

        assert list_names() == authors
        assert not OutboxEvent.objects.exists()
        require_gapless_positions()


class Killer:
    """Ends the connection of this thread before or after one of its next statements, as if its host was gone."""

    def __init__(self, other: psycopg.Connection[Any], step: int, *, is_done: bool) -> None:
        self.other, self.is_done = other, is_done
        self.left = step

    def __call__(self, execute: Callable[..., Any], *statement: Any) -> Any:
        is_now, self.left = self.left == 0, self.left - 1
        if is_now and not self.is_done:
            self.terminate()
        result = execute(*statement)
        if is_now and self.is_done:
            self.terminate()
        return result

    def terminate(self) -> None:
        self.other.execute("SELECT pg_terminate_backend(%s, 10000)", [connection.connection.info.backend_pid])


def test_rounds_follow_at_once_while_they_move_whole_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "EVENTS_PER_BATCH", 2)
    monkeypatch.setattr(FIGURES, "is_enabled", True)
    job, pauses = Relay(), [Relay().pause]
    for _ in range(5):
        make_author()

    for now in (0.0, 0.1, 0.2, 0.3, 2.0):
        monkeypatch.setattr(relay, "monotonic", partial(float, now))
        job.run(StopEvent())
        pauses.append(job.pause)

    assert pauses == [1, 0, 0, 0.05, 0.05, 1]
    assert len(list_names()) == 5
    assert len(FIGURES.measured["outbox"]) == 2


def test_relay_makes_the_partition_that_it_needs() -> None:
    for name in list_partitions().values():
        execute(f"DROP TABLE {name}")
    make_author()

    Relay().run(StopEvent())

    assert len(list_names()) == 1


def test_metrics_say_how_many_events_wait_and_for_how_long() -> None:
    for expected in (0, 2):
        Relay().measure()
        rows, age = (value for _, _, value in FIGURES.measured["outbox"])
        assert (rows, age > 0) == (expected, expected > 0)
        make_author()
        make_author()


def test_another_database_begins_another_epoch_with_its_first_event() -> None:
    make_author()
    move_events()
    before = Log.objects.get()
    Log.objects.update(server="another", moved=2**62)
    assert move_events() == 0
    assert Log.objects.get().epoch == before.epoch

    make_author()
    move_events()

    after = Log.objects.get()
    assert after.epoch != before.epoch
    assert (after.position, after.server) == (before.position + 1, before.server)


def test_relay_passes_over_the_ids_that_no_transaction_can_take_any_more() -> None:
    Log.objects.update(moved=0, next_moved=0, next_xid=0)
    for _ in range(5):
        make_author()
    ids = list(OutboxEvent.objects.order_by("id").values_list("id", flat=True))

    move_events(2)
    move_events(2)
    assert Log.objects.get().moved == 0  # the transaction of the test has not ended
    Log.objects.update(next_xid=0)
    move_events(2)

    assert Log.objects.get().moved == ids[1]
    assert len(list_names()) == 5


def test_events_wait_while_there_is_no_log() -> None:
    make_author()
    Log.objects.all().delete()
    assert move_events() == 0
    assert OutboxEvent.objects.count() == 1

    prepare_partitions()

    assert move_events() == 1
    Log.objects.all().delete()
    make_author()
    prepare_partitions()
    assert move_events() == 1
    assert Log.objects.get().position == 2  # no position is given twice


def test_relay_looks_for_the_events_that_it_has_passed_over() -> None:
    make_author()
    move_events()
    Log.objects.update(moved=2**62)  # somebody has set the sequence back since
    make_author()
    assert move_events() == 0

    maintain_partitions(StopEvent())

    assert move_events() == 1
