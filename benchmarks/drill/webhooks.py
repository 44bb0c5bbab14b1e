"""Kill the worker, PostgreSQL and the server while clients write and a receiver of webhooks fails one in five requests.

Afterwards the receiver has every event of the log, and more than once only with the same id and body.
"""

import json
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import cycle, pairwise
from typing import Any

from benchmarks.drill.faults import kill_postgres, kill_worker
from benchmarks.drill.images import PAUSE_OF_KILLS, kill_background, kill_server, send
from benchmarks.drill.load import Load
from benchmarks.drill.stack import Stack
from tests.receiver_behaviours import fail_one_in
from tests.webhook_receivers import Received, Receiver

CLIENTS = 8
FAILING = 5  # one request in so many fails
SECONDS, SMALL_SECONDS = 60.0, 8.0  # of kills
CATCH_UP_LIMIT = 300.0
TYPES = ["post.*", "comment.*"]
KILLS: tuple[Callable[[Stack, float], object], ...] = (
    kill_background, kill_background, kill_worker, kill_background, kill_postgres, kill_background, kill_server,
)  # fmt: skip
UNSENT = """
    SELECT (SELECT count(*) FROM events_outbox) + (SELECT count(*) FROM events_delivery WHERE state = 'waiting')
        + (SELECT count(*) FROM events_webhook, events_log WHERE events_webhook.position < events_log.position)
"""
POSITIONS = "SELECT array_agg(position) FROM events_event WHERE position > {after} AND type ~ '^(post|comment)[.]'"
RELEASE = "WITH released AS (UPDATE events_webhook SET leased_until = now() RETURNING id) SELECT count(*) FROM released"
# What waits for a later attempt is due.
HASTEN = """
    WITH hastened AS (
        UPDATE events_delivery SET due_at = now() WHERE state = 'waiting' AND due_at > now() RETURNING id
    ), woken AS (
        UPDATE events_webhook SET due_at = now() WHERE disabled_at IS NULL RETURNING id
    )
    SELECT count(*) FROM hastened, woken
"""


def drill_webhooks(stack: Stack, *, is_small: bool) -> list[str]:
    """Return what is wrong at the end. Prints what was done."""
    load = Load(stack.port, stack.key, stack.post_id, CLIENTS)
    with Receiver(fail_one_in(FAILING)) as receiver:
        wait_until_sent(stack)
        begin = int(stack.database.query("SELECT position FROM events_log"))
        webhook = create_webhook(stack, receiver)
        load.start()
        kills = kill_in_turn(stack, SMALL_SECONDS if is_small else SECONDS)
        load.stop()
        if is_small:  # nobody waits for the end of the leases of killed workers
            stack.database.query(RELEASE)
        seconds = wait_until_sent(stack)
        received = list(receiver.received)
        send(stack, "DELETE", f"/webhooks/{webhook}")
    positions = set(stack.database.query(POSITIONS.format(after=begin)))
    problems = find_problems(received, positions)
    doubles = len(received) - len({request.id for request in received})
    summary = f"{len(positions)} events, {len(received)} requests, {doubles} of them again, {kills} kills"
    print(f"Webhooks: {summary}; sent after {seconds:.0f} s: {'; '.join(problems) or 'passed'}", flush=True)
    return problems


def create_webhook(stack: Stack, receiver: Receiver) -> str:
    """Return the id of a new webhook. Raises `RuntimeError`."""
    content = {"url": receiver.url, "types": TYPES, "name": "Drill"}
    status, body = send(stack, "POST", "/webhooks", json.dumps(content).encode())
    if status != 201:
        raise RuntimeError(f"POST /webhooks: status {status} {body}")
    return str(body["id"])


def kill_in_turn(stack: Stack, seconds: float) -> int:
    """Kill one process after the other for some seconds. Return how many."""
    deadline, kills = time.monotonic() + seconds, 0
    for kill in cycle(KILLS):
        if time.monotonic() > deadline:
            break
        kill(stack, 0)
        kills += 1
        time.sleep(2 * PAUSE_OF_KILLS)
    stack.wait_until_serving()
    return kills


def wait_until_sent(stack: Stack) -> float:
    """Wait until everything is sent, or no longer than the limit. Return the seconds."""
    begin = time.monotonic()
    while stack.database.query(UNSENT) and time.monotonic() < begin + CATCH_UP_LIMIT:
        stack.database.query(HASTEN)
        time.sleep(0.5)
    return time.monotonic() - begin


def find_problems(received: list[Received], positions: set[int]) -> list[str]:
    """Return what is lost, what was never in the log, and what came twice with another body or in a wrong order."""
    attempts: dict[int, list[tuple[Received, bool]]] = defaultdict(list)
    last: dict[str, int] = {}
    problems = []
    for number, request in enumerate(received):
        event: dict[str, Any] = request.event
        position = int(event["position"])
        if position < last.get(event["subject"], 0):
            problems.append(f"the event {position} came after {last[event['subject']]} of its object")
        last[event["subject"]] = position
        attempts[position].append((request, number % FAILING != 0))
    lost, unknown = positions - attempts.keys(), attempts.keys() - positions
    problems += [
        f"{len(found)} events {what}" for found, what in ((lost, "are lost"), (unknown, "are not in the log")) if found
    ]
    different = [position for position, all_of in attempts.items() if len({request.id for request, _ in all_of}) > 1]
    changed = [position for position, all_of in attempts.items() if has_changed(all_of)]
    problems += [
        f"{len(found)} events came with {what}"
        for found, what in ((different, "two ids"), (changed, "two bodies"))
        if found
    ]
    return problems


def has_changed(attempts: list[tuple[Received, bool]]) -> bool:
    """Return whether an event that was accepted came again with another body. After a failure, it is read again."""
    return any(before.body != after.body for (before, accepted), (after, _) in pairwise(attempts) if accepted)
