"""Measure and break a cluster of Citus. Everything runs on this machine, and is removed at the end, also after Ctrl-C.

`grow`: a third worker joins a cluster of two under load. `kill`: a worker dies under load, and returns. `figures`: what
a request costs on one PostgreSQL, and on Citus with each number of workers, with the same content.
"""

import argparse
import os
import platform
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.citus.capacity import print_capacity
from benchmarks.citus.figures import Stage, measure_stages
from benchmarks.citus.growth import Change, run_changes

CHANGES_HEADER = """
| Change | Took s | Writes | Lost | Duplicated | Own read | Missed | Refused | Longest s | Lists | Failed | Slowest s |
|---|---|---|---|---|---|---|---|---|---|---|---|"""
COSTS_HEADER = """
| Request | Database | Hosts ms | Coordinator ms | Workers ms | Ratio | Round trips | Statements on workers |
|---|---|---|---|---|---|---|---|"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.citus", description=__doc__)
    parser.add_argument("--parts", default="grow,kill", help="of grow, kill and figures (default: grow,kill)")
    parser.add_argument("--rounds", type=int, default=1, help="of grow and kill (default: 1)")
    parser.add_argument("--posts", type=int, default=20_000, help="with five comments each (default: 20000)")
    parser.add_argument("--shards", type=int, default=8, help="of each table (default: 8)")
    parser.add_argument("--workers", default="1,2,4", help="numbers of workers of the figures, ascending")
    parser.add_argument("--requests", type=int, default=200, help="of a kind in a round of the figures (default: 200)")
    parser.add_argument("--folder", type=Path, help="of the figures: keep the data there, and continue there")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that everything is stopped
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a shell
    print(
        f"{os.cpu_count()} cores, Python {platform.python_version()}, {options.posts:,} posts, {options.shards} shards."
    )
    parts = options.parts.split(",")
    try:
        broken = []
        if changes := [part for part in parts if part != "figures"]:
            seen = run_changes(changes, options.rounds, options.posts, options.shards)
            print_changes(seen)
            broken = [f"{change.name}: {promise}" for change in seen for promise in change.broken]
        if "figures" in parts:
            workers = [int(number) for number in options.workers.split(",")]
            stages = measure_stages(options.posts, workers, options.shards, options.requests, options.folder)
            if stages[-1].costs:
                print_stages(stages)
                print_capacity(stages, options.posts, options.shards)
        sys.exit("\n".join(broken) or 0)
    except KeyboardInterrupt:
        sys.exit(130)


def print_changes(changes: Sequence[Change]) -> None:
    print(CHANGES_HEADER)
    for each in changes:
        print_row(
            each.name, f"{each.seconds:.1f}", each.writes, each.lost, each.duplicated, each.own_reads, each.missed,
            each.refusals, f"{each.longest_write:.1f}", each.lists, each.failed_lists, f"{each.slowest_list:.1f}",
        )  # fmt: skip
    print()
    for each in changes:
        for note in each.notes:
            print(f"* {each.name}: {note}.")


def print_stages(stages: Sequence[Stage]) -> None:
    print(COSTS_HEADER)
    for kind, one in stages[0].costs.items():
        for stage in stages:
            cost = stage.costs[kind]
            times = [f"{value:.2f}" for value in (cost.hosts, cost.coordinator, cost.workers)]
            ratio = f"{(cost.hosts + cost.postgres) / (one.hosts + one.postgres):.2f}"
            print_row(kind, stage.name, *times, ratio, f"{cost.round_trips:.1f}", f"{cost.statements:.1f}")
    print()
    for stage in stages:
        print(f"* {stage.name}: ready after {stage.moved_in:.0f} s of work on data.")


def print_row(*values: Any) -> None:
    print(f"| {' | '.join(str(value) for value in values)} |", flush=True)


if __name__ == "__main__":
    main()
