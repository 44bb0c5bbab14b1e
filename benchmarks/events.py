"""`python -m benchmarks.events`: measure the relay, the feed and the partitions, on ten million events by default.

* the events that the relay moves in a second;
* the time of a request of the feed, through the complete WSGI application, in this process;
* the time that dropping the partition of a day takes;
* the time from a change to its event in the log, while the snapshot of a backup keeps all rows that the relay deletes.

Prints a table in Markdown. Exits with 1 if a figure exceeds its limit. It keeps its PostgreSQL in `var/events`. It runs
for about five minutes, most of which it takes to make the events; with `--events 300000` for one.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from io import BytesIO
from statistics import quantiles
from threading import Event, Thread
from typing import Any, NoReturn

import psycopg

from benchmarks.database import EDITOR, Database, manage, our_environment
from benchmarks.places import ROOT
from contentapi.conf.timeouts import EVENTS_BUSY
from contentapi.db.embedded.server import EmbeddedServer

DAYS = 30
WAITING = 50_000  # events in the outbox, for the relay
REQUESTS = 40  # of each kind
SECONDS, PAUSE = 20.0, 0.01  # for which a client writes, and its pause between two changes
COLUMNS = "type, subject_id, version, was, now, changes, is_public, owner_ids"
ROWS = "'post.updated', 1000 + n % 5000, n, 'published', 'published', ARRAY['title', 'body'], n % 50 = 0, ARRAY[1, 2]"
EXPECTED = {"relay": 5000.0, "request": 50.0, "drop": 50.0, "backup": 250.0}  # events a second; milliseconds
Row = tuple[str, str, float, bool]  # what was measured, its unit, the figure, and whether it is good enough


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.events")
    parser.add_argument("--events", type=int, default=10_000_000, help="in the log; default: 10,000,000")
    options = parser.parse_args()
    database = Database(EmbeddedServer(ROOT / "var" / "events" / "postgres").acquire(), "events")
    maintenance = Database(database.address, "postgres")
    maintenance.run("DROP DATABASE IF EXISTS events WITH (FORCE)", "CREATE DATABASE events")
    manage(database, "migrate", "--verbosity", "0")
    manage(database, "create_user", EDITOR, "--name", "Bench", "--role", "admin")
    token = manage(database, "issue_token", EDITOR, "--ttl", "86400").split()[-1]
    rates = {f"CONTENTAPI_RATE_{name}": "999999999/minute" for name in ("ANONYMOUS", "AUTHENTICATED")}
    os.environ.update(our_environment(database) | rates | {"CONTENTAPI_LOG_SAMPLE": "0"})
    from contentapi.wsgi import application  # reads the environment

    fill(database, options.events)
    rows = [measure_relay(database)]
    rows += measure_requests(database, application, token, options.events)
    rows += [measure_drop(), *measure_backup(database, options.events // 10)]
    report(rows)


def report(rows: Sequence[Row]) -> NoReturn:
    """Print the table, and exit: with 1 if a figure exceeds its limit."""
    print("| What | Unit | Figure |\n|---|---|--:|")
    for name, unit, figure, is_good in rows:
        print(f"| {name} | {unit} | {figure:,.1f}{'' if is_good else ' (misses its limit)'} |")
    sys.exit(not all(is_good for *_, is_good in rows))


def fill(database: Database, events: int) -> None:
    """Fill the partitions of the days before today with events, of which 2 % are public."""
    from contentapi.events.partitions import prepare_partitions

    prepare_partitions()
    today: date = database.row("SELECT (now() AT TIME ZONE 'UTC')::date")[0]
    each = events // DAYS
    for number in range(DAYS):
        day = today - timedelta(days=DAYS - number)
        create_partition(database, "events_event", day)
        numbers = f"generate_series({number * each + 1}, {(number + 1) * each}) AS n"
        columns = f'position, day, "timestamp", {COLUMNS}'
        database.run(f"INSERT INTO events_event ({columns}) SELECT n, '{day}', now(), {ROWS} FROM {numbers}")
    database.run(f"UPDATE events_log SET position = {each * DAYS}", "VACUUM ANALYZE events_event")


def create_partition(database: Database, table: str, day: date) -> None:
    from contentapi.events.partitions import CREATE

    names = {"table": table, "name": f"{table}_{day:%Y%m%d}"}
    database.run(CREATE.format(**names, day=day, next_day=day + timedelta(days=1)))


def announce(database: Database, events: int) -> None:
    database.run(f"INSERT INTO events_outbox ({COLUMNS}) SELECT {ROWS} FROM generate_series(1, {events}) AS n")


def move_all() -> int:
    from contentapi.events.relay import move_events

    return sum(iter(move_events, 0))


def measure_relay(database: Database) -> Row:
    announce(database, WAITING)
    begin = time.perf_counter()
    rate = move_all() / (time.perf_counter() - begin)
    return "relay", "events a second", rate, rate >= EXPECTED["relay"]


def measure_requests(database: Database, application: Any, token: str, events: int) -> Iterator[Row]:
    epoch, position = database.row("SELECT epoch, position FROM events_log")
    middle, admin = f"?after={epoch}-{events // 2}", {"HTTP_AUTHORIZATION": f"Bearer {token}"}
    for name, query, headers in (
        ("present, anonymous", f"?after={epoch}-{position}", {}),
        ("100 events from the middle on, anonymous", f"{middle}&limit=100", {}),
        ("100 events from the middle on, admin", f"{middle}&limit=100", admin),
        ("a window without events, anonymous", f"{middle}&limit=100&type=order.paid", {}),
        ("100 events of one object, admin", "?subject=1007&limit=100", admin),
        ("100 oldest events, anonymous", "?limit=100", {}),
    ):
        times = sorted(measure(lambda: get(application, query, headers)) for _ in range(REQUESTS))  # noqa: B023
        slow = times[-2]
        yield f"request: {name}", f"ms, the second slowest of {REQUESTS}", slow, slow <= EXPECTED["request"]


def get(application: Any, query: str, headers: dict[str, str]) -> None:
    environ = {
        "REQUEST_METHOD": "GET", "PATH_INFO": "/events", "QUERY_STRING": query[1:], "SERVER_NAME": "localhost",
        "SERVER_PORT": "8000", "HTTP_HOST": "localhost", "REMOTE_ADDR": "192.0.2.1", "wsgi.url_scheme": "http",
        "wsgi.input": BytesIO(), **headers,
    }  # fmt: skip
    statuses: list[str] = []
    content = b"".join(application(environ, lambda status, *_: statuses.append(status)))
    if statuses != ["200 OK"]:
        raise RuntimeError(f"{query}: {statuses}: {content[:600]!r}")


def measure(function: Callable[[], object]) -> float:
    """Return the milliseconds that a call takes."""
    begin = time.perf_counter()
    function()
    return (time.perf_counter() - begin) * 1000


def measure_drop(table: str = "events_event") -> Row:
    from contentapi.events.partitions import drop_partition, list_partitions

    oldest = min(list_partitions(table).items())[1]
    taken = measure(lambda: drop_partition(oldest))
    return f"drop a day of {table}", "ms", taken, taken <= EXPECTED["drop"]


def measure_backup(database: Database, deleted: int) -> Iterator[Row]:
    """Let the relay work as in the worker while a client writes, and measure how old each event is in the log."""
    from django.db import connection

    from contentapi.events.models import Log
    from contentapi.events.relay import Relay

    job, stop, ages = Relay(), Event(), list[float]()
    with psycopg.connect(database.url) as backup:
        backup.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        backup.execute("SELECT count(*) FROM events_log")
        announce(database, deleted)
        move_all()
        database.run(*["UPDATE events_log SET server = server"] * (deleted // 25))  # a batch for each 25 events
        client = Thread(target=write, args=[database, stop])
        client.start()
        begin, position = time.monotonic(), Log.objects.get().position
        while (passed := time.monotonic() - begin) < SECONDS:
            job.run(stop)
            with connection.cursor() as cursor:
                cursor.execute(
                    'SELECT position, extract(epoch FROM clock_timestamp() - "timestamp")::float * 1000 '
                    "FROM events_event WHERE position > %s ORDER BY position",
                    [position],
                )
                for position, age in cursor.fetchall():  # noqa: B007 - the last one
                    if passed > 2 * EVENTS_BUSY:  # the relay pauses for longer before the first event
                        ages.append(age)
            time.sleep(job.pause)
        stop.set()
        client.join()
    percentiles = quantiles(ages, n=100)
    name = f"from a change to the log, with {deleted:,} deleted rows that a backup keeps"
    for number in (50, 99):
        found = percentiles[number - 1]
        yield f"{name}: p{number}", "ms", found, found <= EXPECTED["backup"]


def write(database: Database, stop: Event) -> None:
    with psycopg.connect(database.url, autocommit=True) as connection:
        while not stop.wait(PAUSE):
            connection.execute(f"INSERT INTO events_outbox ({COLUMNS}) SELECT {ROWS} FROM generate_series(1, 1) AS n")


if __name__ == "__main__":
    main()
