"""Kill the server, the worker, the process of streams and PostgreSQL in turn, while clients write and others follow.

At the end each stream must have the events of the log, in their order. An event may come twice, but is the same then.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import cycle, pairwise
from typing import Any

from benchmarks.drill.faults import kill_and_wait, kill_master, kill_postgres, kill_worker
from benchmarks.drill.load import Load
from benchmarks.drill.stack import Stack
from benchmarks.followers import Follower, Received

CLIENTS = 8
SECONDS, SMALL_SECONDS = 120.0, 15.0  # of kills
PAUSE = 2.0  # seconds between two kills
CATCH_UP_LIMIT = 120.0
PATIENCE = 30.0  # seconds for the begin of a stream
LOG = "SELECT coalesce(array_agg(position ORDER BY position), '{{}}') FROM events_event WHERE position > {} AND {}"
WAITING = "SELECT count(*) FROM events_outbox"
IS_PUBLIC, ANY = "is_public", "true"


def kill_background(stack: Stack, _: float) -> None:
    kill_and_wait(stack.background)


def kill_stream(stack: Stack, _: float) -> None:
    kill_and_wait(stack.stream)


KILLS: tuple[Callable[[Stack, float], None], ...] = (
    kill_stream, kill_worker, kill_background, kill_stream, kill_postgres, kill_master,
)  # fmt: skip


def drill_streams(stack: Stack, *, is_small: bool) -> list[str]:
    """Return what is wrong at the end. Prints what was done."""
    begin = time.monotonic()
    followers = {
        (name, condition): Follower(stack.stream_port, headers=headers)
        for number in range(3)
        for name, headers, condition in (
            (f"anonymous {number}", {}, IS_PUBLIC),
            (f"admin {number}", {"X-API-Key": stack.key}, ANY),
        )
    }
    problems: list[str] = []
    for (name, _), follower in followers.items():
        follower.start()
        if not follower.wait_for(lambda it: it.begin, PATIENCE):
            problems.append(f"{name}: no stream, {follower.refusals}")
    load = Load(stack.port, stack.key, stack.post_id, CLIENTS)
    load.start()
    kills = kill_in_turn(stack, SMALL_SECONDS if is_small else SECONDS)
    acknowledged = len(load.stop().acknowledged)
    seconds = wait_for_the_log(stack)
    for (name, condition), follower in followers.items():
        first = follower.begin.rpartition("-")[2]
        positions = stack.database.query(LOG.format(first or 0, condition))
        follower.wait_for(lambda it: it.events and get_position(it.events[-1]) >= positions[-1], CATCH_UP_LIMIT)  # noqa: B023
        follower.stop()
        problems += (f"{name}: {problem}" for problem in find_differences(follower.events, positions))
    events = sum(len(follower.events) for follower in followers.values())
    ends = sum(len(follower.ends) for follower in followers.values())
    killed = ", ".join(f"{name} {number}" for name, number in sorted(kills.items()))
    print(
        f"streams: {time.monotonic() - begin:.0f} s; killed {killed}; {acknowledged} writes acknowledged; "
        f"{events} events received by {len(followers)} streams, which began {ends} times; the log was complete "
        f"{seconds:.0f} s after the last write: {'; '.join(problems[:20]) or 'passed'}",
        flush=True,
    )
    return problems


def kill_in_turn(stack: Stack, seconds: float) -> Counter[str]:
    kills, deadline = Counter[str](), time.monotonic() + seconds
    for kill in cycle(KILLS):
        time.sleep(random.uniform(0.5, 1.5) * PAUSE)
        if time.monotonic() > deadline:
            break
        kill(stack, 0)
        kills[kill.__name__.removeprefix("kill_")] += 1
    stack.wait_until_serving()
    return kills


def wait_for_the_log(stack: Stack) -> float:
    """Wait until no event is in the outbox. Return the seconds. Raises `RuntimeError`."""
    begin = time.monotonic()
    while stack.database.query(WAITING):
        if time.monotonic() > begin + CATCH_UP_LIMIT:
            raise RuntimeError("The relay has not caught up.")
        time.sleep(0.2)
    return time.monotonic() - begin


def get_position(received: Received) -> int:
    return int(received.event["position"])


def find_differences(events: list[Received], positions: list[int]) -> Iterator[str]:
    """Yield how the events of a stream differ from the positions of the log. `data` is as new as its delivery."""
    known: dict[int, Any] = {}
    for received in events:
        position = get_position(received)
        fixed = {name: value for name, value in received.event.items() if name != "data"}
        if known.setdefault(position, fixed) != fixed:
            yield f"{position} came as {known[position]} and as {fixed}"
        if int(received.cursor.rpartition("-")[2]) != position:
            yield f"{position} came with the cursor {received.cursor}"
    if missing := sorted(set(positions) - known.keys()):
        yield f"{len(missing)} of {len(positions)} events did not come, such as {missing[:5]}"
    if foreign := sorted(known.keys() - set(positions)):
        yield f"{len(foreign)} events came that are not for it, such as {foreign[:5]}"
    firsts = list(dict.fromkeys(get_position(received) for received in events))
    if any(earlier > later for earlier, later in pairwise(firsts)):
        yield "the events did not come in their order"
