"""Break parts of a deployment under a load with idempotency keys, and print what the clients lost: see docs/faults.md.

The drill starts its own PostgreSQL, Redis, server and background worker in a temporary folder, and stops only these.
"""

import argparse
import signal
import sys
import time
from collections.abc import Callable
from functools import partial

from benchmarks.drill.database import count_connections, count_idle_transactions
from benchmarks.drill.events import SMALL_WRITES, WRITES, drill_events
from benchmarks.drill.faults import FAULTS, SMALL, Fault, can_cause, prepare_replica
from benchmarks.drill.images import drill_images
from benchmarks.drill.load import Load
from benchmarks.drill.report import BACK_WITHIN, Outcome, Span, Use, format_row, format_table, judge
from benchmarks.drill.stack import THREADS, WORKERS, Stack
from contentapi.health import CONNECTIONS_OF_STREAMS, CONNECTIONS_OF_WORKER
from tests.deployment.processes import SERVERS

# Not one fault each: all processes that take part are killed in turn, again and again.
DRILLS = ("images", "events")
Drills = dict[str, Callable[[Stack], list[str]]]
KNOWN = (*DRILLS, *FAULTS)
CLIENTS = 16
WARM_UP = 6.0  # seconds
BEFORE, AFTER = 3.0, BACK_WITHIN + 2.0  # seconds of load before a fault, and after its cause
SETTLE = 3.0  # seconds
LONGEST_RETURN = 40.0  # seconds, after which the drill continues without workers
# The connections of the workers: their slots, revocations, health and availability; and those of the jobs and streams.
MOST_CONNECTIONS = WORKERS * (THREADS + 3) + CONNECTIONS_OF_WORKER + CONNECTIONS_OF_STREAMS


def main() -> None:
    options = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that started processes are stopped
    names = options.faults or [*DRILLS, *(SMALL if options.small else FAULTS)]
    drills: Drills = {
        "images": partial(drill_images, is_small=options.small),
        "events": partial(drill_events, writes=options.writes),
    }
    failed = 0
    for server in options.servers:
        outcomes, failures = run(server, names, drills, is_small=options.small)
        print(f"\n{server}:\n\n{format_table(outcomes)}\n", flush=True)
        failed += failures
    if failed:
        sys.exit(f"{failed} faults were not survived.")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drill", description=__doc__)
    parser.add_argument("--faults", type=lambda text: choose(text, KNOWN), help=f"of {', '.join(KNOWN)}; default: all")
    parser.add_argument(
        "--servers", type=lambda text: choose(text, SERVERS), default=list(SERVERS), help=f"of {', '.join(SERVERS)}"
    )
    parser.add_argument(
        "--small", action="store_true", help=f"short faults; by default only {', '.join((*DRILLS, *SMALL))}"
    )
    parser.add_argument("--writes", type=int, help=f"of the drill of events; default: {WRITES}, or {SMALL_WRITES}")
    options = parser.parse_args()
    options.writes = options.writes or (SMALL_WRITES if options.small else WRITES)
    return options


def choose(text: str, known: tuple[str, ...]) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in known]
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}; known: {', '.join(known)}")
    return sorted(names, key=known.index)  # the fail-over is the last one: it ends the primary


def run(server: str, names: list[str], drills: Drills, *, is_small: bool) -> tuple[list[Outcome], int]:
    """Return the outcomes of the faults, each on the deployment that the fault before has left, and how many failed."""
    stack = Stack(server)
    try:
        stack.start()
        load = Load(stack.port, stack.key, stack.post_id, CLIENTS)
        load.start()
        time.sleep(WARM_UP)
        load.stop()
        outcomes, failed = [], 0
        for name in names:
            if name in DRILLS:
                failed += bool(drills[name](stack))
                continue
            if not can_cause(FAULTS[name]):
                print(f"{FAULTS[name].title}: skipped, because it needs root", flush=True)
                continue
            outcome = measure(stack, load, FAULTS[name], is_small=is_small)
            outcomes.append(outcome)
            failures = "; ".join(outcome.failures) or "passed"
            print(f"{server}, {' | '.join(format_row(outcome))}: {failures}", flush=True)
        return outcomes, failed + sum(bool(outcome.failures) for outcome in outcomes)
    finally:
        stack.stop()


def measure(stack: Stack, load: Load, fault: Fault, *, is_small: bool) -> Outcome:
    if fault is FAULTS["failover"]:
        prepare_replica(stack)
    load.start()
    time.sleep(BEFORE)
    before = measure_use(stack)
    begin = time.monotonic()
    fault.cause(stack, fault.small_seconds if is_small else fault.seconds)
    span = Span(begin, time.monotonic())
    time.sleep(AFTER)
    while len(stack.find_workers()) < WORKERS and time.monotonic() < span.end + LONGEST_RETURN:
        time.sleep(0.2)
    journal = load.stop()
    time.sleep(SETTLE)
    return judge(fault, span, journal, stack.database, (before, measure_use(stack)), MOST_CONNECTIONS)


def measure_use(stack: Stack) -> Use:
    database = stack.database
    return Use(count_connections(database), count_idle_transactions(database), stack.measure_memory())


if __name__ == "__main__":
    main()
