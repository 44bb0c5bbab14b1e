"""`python -m benchmarks.webhooks`: measure the sender of webhooks, with ten million deliveries by default.

* the deliveries in a second of a worker to receivers on this machine, each with its post;
* the times in which a sender looks for work, claims deliveries, reads their bodies and records their results, beside
  the deliveries of 30 days and an object that blocks 50,000 of its own;
* the time that dropping the partitions of a day takes.

The partitions of today have no statistics, as after midnight. Prints a table in Markdown. Exits with 1 if a figure
exceeds its limit. It keeps its PostgreSQL in `var/events`. It runs for about ten minutes, most of which it takes to
make the rows; with `--deliveries 300000` for one.
"""

import argparse
import os
import time
from collections.abc import Iterator
from datetime import date, timedelta
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any
from uuid import uuid4

import psutil

from benchmarks.database import EDITOR, Database, manage, our_environment
from benchmarks.events import COLUMNS, DAYS, Row, create_partition, fill, measure_drop, move_all, report
from benchmarks.places import ROOT, clean_environment
from contentapi.db.embedded.server import EmbeddedServer
from tests.deployment.processes import COMMANDS, start_process
from tests.receiver_behaviours import accept
from tests.webhook_receivers import Receiver

POSTS = 1000
BLOCKED = 50_000  # deliveries behind the failing one of their object
AT_ONCE = 64  # deliveries that are claimed together
ROUNDS = 40
FAST = 500.0  # deliveries a second
SLOW = 50.0  # milliseconds
SETTINGS = {
    "CONTENTAPI_WEBHOOK_NETWORKS": "127.0.0.0/8",
    "CONTENTAPI_LOG_SAMPLE": "0",
    "CONTENTAPI_LOG_LEVEL": "WARNING",
}
PATIENCE = 300.0
WAITING = "SELECT count(*) FROM events_delivery WHERE state = 'waiting' AND subject_id <> 1"
BEHIND = "SELECT count(*) FROM events_webhook, events_log WHERE events_webhook.position < events_log.position"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.webhooks")
    parser.add_argument("--deliveries", type=int, default=10_000_000, help="of the last 30 days; default: 10,000,000")
    parser.add_argument("--sent", type=int, default=6000, help="deliveries for the rates; default: 6,000")
    options = parser.parse_args()
    database = Database(EmbeddedServer(ROOT / "var" / "events" / "postgres").acquire(), "webhooks")
    maintenance = Database(database.address, "postgres")
    maintenance.run("DROP DATABASE IF EXISTS webhooks WITH (FORCE)", "CREATE DATABASE webhooks")
    manage(database, "migrate", "--verbosity", "0")
    manage(database, "create_user", EDITOR, "--name", "Bench", "--role", "admin")
    os.environ.update(our_environment(database) | SETTINGS)
    import contentapi.wsgi  # noqa: F401 - reads the environment, and loads the apps

    posts = make_posts()
    fill(database, options.deliveries)
    rows = list(measure_rates(database, posts, options.sent))
    fill_deliveries(database, options.deliveries)
    rows += measure_steps(database, posts)
    rows += [measure_drop(table) for table in ("events_delivery", "events_attempt")]
    report(rows)


def make_posts() -> list[int]:
    from contentapi.events.triggers import silence
    from tests.factories import make_author, make_post

    author = make_author()
    with silence():
        return [make_post(author=author, title=f"Post {n}", body="Words of a text. " * 120).pk for n in range(POSTS)]


def make_webhooks(url: str, number: int) -> list[Any]:
    """Delete all webhooks, and return new ones with all rights."""
    from contentapi.auth.sessions import build_session_actor
    from contentapi.events.webhooks.models import Webhook
    from contentapi.events.webhooks.services import create_webhook
    from users.models import User

    Webhook.objects.all().delete()
    actor = build_session_actor(User.objects.get(email=EDITOR))
    names = [f"Receiver {each}" for each in range(number)]
    return [create_webhook(actor=actor, name=name, url=url, types=["post.updated"]).webhook for name in names]


def announce(database: Database, posts: list[int], number: int) -> None:
    """Write changes of the posts, each in its turn, and move them to the log."""
    values = (
        "'post.updated', posts[n % cardinality(posts) + 1], n, 'published', 'published', ARRAY['title'], true, ARRAY[1]"
    )
    rows = f"SELECT {values} FROM generate_series(1, {number}) AS n, (SELECT ARRAY{posts}::bigint[] AS posts) AS given"
    database.run(f"INSERT INTO events_outbox ({COLUMNS}) {rows}")
    move_all()


def receive(pipe: Connection) -> None:
    """Accept everything in a process of its own. Send the address, and for each question the times of the requests."""
    with Receiver(accept) as receiver:
        pipe.send(receiver.url)
        while pipe.recv():
            pipe.send([each.time for each in receiver.received])


def measure_rates(database: Database, posts: list[int], number: int) -> Iterator[Row]:
    """Start a worker when all events are in the log, and measure from the first request to the last one."""
    for webhooks in (1, 8):
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=receive, args=[theirs], daemon=True)
        process.start()
        make_webhooks(ours.recv(), webhooks)
        announce(database, posts, number // webhooks)
        environment = clean_environment() | our_environment(database) | SETTINGS
        worker = start_process(COMMANDS["worker"], None, environment)
        wait_until_sent(database)
        used = psutil.Process(worker.pid).cpu_times()
        worker.terminate()
        worker.wait()
        ours.send("times")
        times = sorted(ours.recv())
        ours.send("")
        process.join()
        name = f"deliveries of {webhooks} webhook{'s'[: webhooks - 1]}"
        rate = (len(times) - 1) / (times[-1] - times[0])
        if len(times) != number // webhooks * webhooks:
            raise RuntimeError(f"{len(times)} requests arrived.")
        yield name, "a second", rate, rate >= FAST
        yield (
            f"{name}: processor time of the worker",
            "ms for each",
            (used.user + used.system) * 1000 / len(times),
            True,
        )


def wait_until_sent(database: Database) -> None:
    deadline = time.monotonic() + PATIENCE
    while database.row(BEHIND)[0] or database.row(WAITING)[0]:
        if time.monotonic() > deadline:
            raise RuntimeError("The worker has not sent everything.")
        time.sleep(0.1)


def fill_deliveries(database: Database, number: int) -> None:
    """Fill the partitions of the days before today: each event was delivered to one of eight webhooks, at once."""
    webhooks = [webhook.pk for webhook in make_webhooks("http://127.0.0.1:9/", 8)]
    today: date = database.row("SELECT (now() AT TIME ZONE 'UTC')::date")[0]
    for back in range(DAYS, 0, -1):
        day = today - timedelta(days=back)
        first = (DAYS - back) * (number // DAYS)
        numbers = f"generate_series({first + 1}, {first + number // DAYS}) AS n"
        for table in ("events_delivery", "events_attempt"):
            create_partition(database, table, day)
        columns = (
            "id, day, webhook_id, message_id, type, subject_id, position, state, attempts, tries, created_at, status"
        )
        values = (
            f"n, '{day}', (ARRAY{webhooks})[n % 8 + 1], 'evt_' || n, 'post.updated', 1000 + n % 5000, n, 'delivered'"
        )
        rows = f"SELECT {values}, 1, 1, '{day}'::timestamptz, 200 FROM {numbers}"
        database.run(f"INSERT INTO events_delivery ({columns}) {rows}")
        columns = "id, day, delivery_id, number, started_at, seconds, status"
        rows = f"SELECT n, '{day}', n, 1, '{day}'::timestamptz, 0.01, 200 FROM {numbers}"
        database.run(f"INSERT INTO events_attempt ({columns}) {rows}")
    database.run("VACUUM ANALYZE events_delivery", "VACUUM ANALYZE events_attempt")
    database.run(
        f"DELETE FROM pg_statistic WHERE starelid IN ({TODAY})", f"UPDATE pg_class SET {EMPTY} WHERE oid IN ({TODAY})"
    )
    columns = "day, webhook_id, message_id, type, subject_id, position, due_at"
    due = "CASE WHEN n = 1 THEN now() + interval '1 hour' END"
    values = f"'{today}', {webhooks[0]}, 'evt_' || n, 'post.updated', 1, n, {due}"
    database.run(f"INSERT INTO events_delivery ({columns}) SELECT {values} FROM generate_series(1, {BLOCKED}) AS n")


TODAY = """
    SELECT inhrelid FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent IN ('events_delivery'::regclass, 'events_attempt'::regclass)
        AND right(relname, 8) >= to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')
"""
EMPTY = "reltuples = -1, relpages = 0"


def measure_steps(database: Database, posts: list[int]) -> Iterator[Row]:
    """Measure what a sender does with a batch: it looks for work, claims, reads bodies and records."""
    from django.utils import timezone

    from contentapi.events.webhooks.bodies import read_bodies
    from contentapi.events.webhooks.deliveries import claim, find_webhooks, record
    from contentapi.events.webhooks.models import Webhook
    from contentapi.events.webhooks.retries import judge
    from contentapi.events.webhooks.sending import ReceivedResponse

    lease, ids = uuid4(), list(Webhook.objects.values_list("pk", flat=True))
    times: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        announce(database, posts, AT_ONCE)
        begin = time.perf_counter()
        found = find_webhooks()
        note(times, "look for work", begin)
        if sorted(found) != sorted(ids):
            raise RuntimeError(f"{len(found)} webhooks were found.")
        for pk in found:
            begin = time.perf_counter()
            claimed = claim(lease, pk)
            note(times, f"plan and claim {AT_ONCE} deliveries", begin)
            if claimed is None or len(claimed.deliveries) != AT_ONCE:
                raise RuntimeError(f"Too few deliveries were claimed: {claimed}.")
            begin = time.perf_counter()
            read_bodies(*claimed)
            note(times, f"read {AT_ONCE} bodies", begin)
            results = [judge(each, ReceivedResponse(204), timezone.now(), 0.1) for each in claimed.deliveries]
            begin = time.perf_counter()
            record(lease, pk, results)
            note(times, f"record {AT_ONCE} results", begin)
    for name, found_times in times.items():
        slow = sorted(found_times)[-2]
        yield name, f"ms, the second slowest of {len(found_times)}", slow, slow <= SLOW


def note(times: dict[str, list[float]], name: str, begin: float) -> None:
    times.setdefault(name, []).append((time.perf_counter() - begin) * 1000)


if __name__ == "__main__":
    main()
