"""Kill server, worker, process of streams and PostgreSQL in turn, while six kinds of writers change posts and comments.

At the end the log has each acknowledged write once and none that was rolled back, and all who follow it have the log.
"""

import random
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import cycle
from threading import Event, Thread

import psutil

from benchmarks.drill.api_writers import PATIENCE, Place
from benchmarks.drill.audience import Audience
from benchmarks.drill.faults import kill_and_wait, kill_postgres, kill_worker
from benchmarks.drill.images import describe
from benchmarks.drill.ledger import Ledger, find_differences, read_begin
from benchmarks.drill.stack import Stack
from benchmarks.drill.supervisor import Service
from benchmarks.drill.writers import CHANNELS, WRITERS, Writer

WRITES, SMALL_WRITES = 5000, 300  # that are acknowledged
PAUSE = 2.0  # seconds between two kills
LIMIT, LIMIT_OF_WRITE = 180.0, 0.5  # seconds, and so many more for each write: the machine may be busy
CATCH_UP_LIMIT = 600.0
UNPUBLISHED = "SELECT count(*) FROM blog_post WHERE status = 'scheduled' AND id > {}"
UNSENT = """
    SELECT (SELECT count(*) FROM events_outbox) + (SELECT count(*) FROM events_delivery WHERE state = 'waiting')
        + (SELECT count(*) FROM events_webhook, events_log WHERE events_webhook.position < events_log.position)
"""
# The lease of a sender that was killed has ended: otherwise it would send nothing before it is killed again.
RELEASE = "WITH released AS (UPDATE events_webhook SET leased_until = now() RETURNING id) SELECT count(*) FROM released"
# What waits for a later attempt is due. A sender locks webhooks first too: otherwise both could wait for each other.
HASTEN = """
    WITH locked AS MATERIALIZED (
        SELECT id FROM events_webhook WHERE disabled_at IS NULL ORDER BY id FOR NO KEY UPDATE
    ), hastened AS (
        UPDATE events_delivery SET due_at = now()
        WHERE state = 'waiting' AND due_at > now() AND webhook_id IN (SELECT id FROM locked) RETURNING id
    ), woken AS (
        UPDATE events_webhook SET due_at = now() WHERE id IN (SELECT id FROM locked) RETURNING id
    )
    SELECT count(*) FROM hastened, woken
"""


def kill_service(service: Service) -> bool:
    """Kill a program, unless it has not started again since the last time. Return whether it was killed."""
    is_running = is_connected(service)
    if is_running:
        kill_and_wait(service)
    return is_running


def is_connected(service: Service) -> bool:
    """Return whether a program is connected to PostgreSQL or a client."""
    with suppress(psutil.Error):
        processes = [psutil.Process(service.pid), *service.children()]
        connections = (each for process in processes for each in process.net_connections("tcp"))
        return any(each.status == psutil.CONN_ESTABLISHED for each in connections)
    return False


def kill_server(stack: Stack) -> bool:
    return kill_service(stack.server)


def kill_worker_of_server(stack: Stack) -> bool:
    kill_worker(stack, 0)
    return True


def kill_background(stack: Stack) -> bool:
    is_killed = kill_service(stack.background)
    stack.database.query(RELEASE)
    return is_killed


def kill_stream(stack: Stack) -> bool:
    return kill_service(stack.stream)


def kill_database(stack: Stack) -> bool:
    kill_postgres(stack, 0)
    return True


KILLS: dict[str, Callable[[Stack], bool]] = {
    "server": kill_server,
    "background": kill_background,
    "stream": kill_stream,
    "PostgreSQL": kill_database,
    "worker of the server": kill_worker_of_server,
}


def drill_events(stack: Stack, *, writes: int) -> list[str]:
    """Return what is wrong at the end. Prints what was done."""
    start, ledger = time.monotonic(), Ledger()
    wait_until_zero(stack, UNSENT)
    with Audience(stack) as audience:
        begin = read_begin(stack.database.read)
        kills = write_and_kill(stack, ledger, writes)
        written = time.monotonic() - start
        stack.wait_until_serving()
        wait_until_zero(stack, UNPUBLISHED.format(begin.last_id))
        stack.database.query(RELEASE)
        wait_until_zero(stack, UNSENT)
        sent = time.monotonic() - start - written
        problems = [*ledger.problems, *find_differences(stack.database.read, ledger, begin), *audience.compare(begin)]
    print(
        f"events: writes for {written:.0f} s; killed {describe(kills)}; {ledger}; {audience.describe()}; "
        f"everything was sent {sent:.0f} s after the last write: {'; '.join(problems[:20]) or 'passed'}",
        flush=True,
    )
    return problems


def write_and_kill(stack: Stack, ledger: Ledger, writes: int) -> Counter[str]:
    """Let all writers work until there are enough writes, and kill meanwhile. Return how often each was killed."""
    stopping = Event()
    places = [Place(stack, ledger, stopping, random.Random(number)) for number in range(len(WRITERS))]
    writers = [(kind(place), place) for kind, place in zip(WRITERS, places, strict=True)]
    threads = [Thread(target=write, args=each, daemon=True) for each in writers]
    for thread in threads:
        thread.start()
    kills = kill_in_turn(stack, ledger, writes)
    stopping.set()
    deadline = time.monotonic() + 2 * PATIENCE
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return kills


def write(writer: Writer, place: Place) -> None:
    """Write until the writer is stopped. An error of the writer is a problem of the drill."""
    try:
        while not place.stopping.is_set():
            writer.write()
            place.pause()
    except Exception as error:  # noqa: BLE001 - it is reported
        place.ledger.complain(f"{writer.channel}: {error!r}")


def kill_in_turn(stack: Stack, ledger: Ledger, writes: int) -> Counter[str]:
    """Kill until there are enough writes, some of each channel, and everything was killed."""
    kills = Counter[str]()
    deadline = time.monotonic() + LIMIT + writes * LIMIT_OF_WRITE
    for name, kill in cycle(KILLS.items()):
        time.sleep(PAUSE)
        done = ledger.acknowledged
        if done.total() >= writes and done.keys() >= set(CHANNELS) and kills.keys() == KILLS.keys():
            break
        if time.monotonic() > deadline:
            ledger.complain(f"not enough was done: {describe(done)} written, {describe(kills)} killed")
            break
        if kill(stack):
            kills[name] += 1
    return kills


def wait_until_zero(stack: Stack, query: str) -> None:
    """Wait until a number is 0. What has failed is tried again. Raises `RuntimeError`."""
    deadline = time.monotonic() + CATCH_UP_LIMIT
    while left := stack.database.query(query):
        if time.monotonic() > deadline:
            raise RuntimeError(f"{left} are left of {query}")
        stack.database.query(HASTEN)
        time.sleep(0.5)
