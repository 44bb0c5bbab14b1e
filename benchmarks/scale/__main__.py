"""Measure reads on a primary with replicas and PgBouncer, and break a cluster under Patroni in twelve ways.

Everything runs on this machine, and is removed at the end, also after Ctrl-C. The cluster needs root, Linux and etcd.
"""

import argparse
import os
import platform
import signal
import sys
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

from benchmarks.scale.cluster import Cluster
from benchmarks.scale.deployment import Deployment, find_haproxy
from benchmarks.scale.faults import FAULTS
from benchmarks.scale.outages import Outage, cause_outage, judge_announcements
from benchmarks.scale.reads import Reads, measure_reads

READS_HEADER = """
| Reads | Caller | Requests/s | p50 ms | p99 ms | Errors | Hosts ms | Primary ms | Replicas ms |
|---|---|---|---|---|---|---|---|---|"""
COUNTS_HEADER = """
| Fault | Writes | Lost | Duplicated | Own writes read | Missed | Reads | Failed | Beside the old primary |
|---|---|---|---|---|---|---|---|---|"""
TIMES_HEADER = """
Median and greatest, in seconds after the fault:

| Fault | First write | Longest pause of writes | Last refusal | Refusals | Slowest read |
|---|---|---|---|---|---|"""
ANNOUNCEMENTS_HEADER = """
Events and webhooks. A slash separates the two workers. The delay is the median and the greatest, in seconds:

| Fault | Posts | No event | Two events | Relayed | Deliveries | Lost | Again | Changed | Sent | Delay |
|---|---|---|---|---|---|---|---|---|---|---|"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--seconds", type=int, default=8, help="of each measurement of reads (default: 8)")
    parser.add_argument("--parts", default="reads,faults", help="reads, faults or both (default)")
    parser.add_argument("--faults", default=",".join(FAULTS), help=f"some of {','.join(FAULTS)} (default: all)")
    parser.add_argument("--rounds", type=int, default=1, help="of each fault (default: 1)")
    parser.add_argument("--route", choices=("haproxy", "addresses"), default="haproxy", help="to the primary")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that everything is stopped
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a shell
    find_haproxy()
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}. Processor times are for each request.")
    try:
        if "reads" in options.parts:
            run_reads(options.seconds)
        if "faults" in options.parts:
            broken = run_faults(options.faults.split(","), options.rounds, options.route)
            sys.exit("\n".join(broken) or 0)
    except KeyboardInterrupt:
        sys.exit(130)


def run_reads(seconds: int) -> None:
    deployment = Deployment()
    try:
        deployment.start_servers()
        print(READS_HEADER)
        for replicas in (0, 1, 2):
            deployment.serve(deployment.primary.build_url(), replicas)
            measure(deployment, f"{replicas} replicas", seconds)
        if deployment.start_pool() and deployment.pgbouncer is not None:
            deployment.serve(deployment.pgbouncer.build_url(), 0)
            measure(deployment, "0 replicas, PgBouncer", seconds)
        else:
            print("There is no PgBouncer 1.21 or newer: run .ci/install_pgbouncer.")
    finally:
        deployment.close()


def measure(deployment: Deployment, name: str, seconds: int) -> None:
    for credential in ("anonymous", "JWT"):
        print(format_reads(measure_reads(deployment, name, credential, seconds)), flush=True)


def run_faults(names: Sequence[str], rounds: int, route: str) -> list[str]:
    """Carry out faults, and print what the clients saw. Returns the promises that were broken."""
    cluster, outages, broken = Cluster(route), [], []
    print_load("before")
    try:
        cluster.start()
        for number in range(rounds):
            for name in names:
                outages.append(outage := cause_outage(cluster, FAULTS[name], number))
                print(f"{name}: {outage}", file=sys.stderr, flush=True)
        broken = judge_announcements(cluster, outages)
    finally:
        cluster.close()
        print_load("after")
        print_outages(names, outages)
    return broken + [f"{outage.fault}: {promise}" for outage in outages for promise in outage.broken]


def print_load(when: str) -> None:
    """Print the load of the machine: other programs make every time longer."""
    print(f"Load {when} the faults: {' '.join(f'{load:.1f}' for load in os.getloadavg())} (1, 5 and 15 minutes)")


def print_outages(names: Iterable[str], outages: Iterable[Outage]) -> None:
    """Print the counts, times and announcements of each fault as tables in Markdown."""
    by_name = {name: [each for each in outages if each.fault == name] for name in names}
    print(COUNTS_HEADER)
    for name, some in by_name.items():
        counts = ("writes", "lost", "duplicated", "own_reads", "missed", "reads", "failed_reads", "writes_apart")
        print(format_row(f"`{name}`", *[sum(getattr(each, count) for each in some) for count in counts]))
    print(TIMES_HEADER)
    for name, some in by_name.items():
        first = [each.first_write for each in some if FAULTS[name].is_outage]
        refused = [each.last_refusal for each in some if each.refusals]
        others = [[getattr(each, value) for each in some] for value in ("refusals", "slowest_read")]
        pauses = [each.pause for each in some]
        times = format_range(first), format_range(pauses), format_range(refused) or "none"
        print(format_row(f"`{name}`", *times, *map(format_range, others)))
    print(ANNOUNCEMENTS_HEADER)
    for name, some in by_name.items():
        print(format_announcements(name, some))


def format_announcements(name: str, outages: Sequence[Outage]) -> str:
    """Return a row for the rounds of a fault. Without any that was judged, it is empty."""
    found = [each.announcements for each in outages if each.announcements is not None]
    if not found:
        return format_row(f"`{name}`")
    relayed, sent = add_columns(each.relayed for each in outages), add_columns(each.sent for each in found)
    delays = median([each.delay for each in found]), max(each.longest_delay for each in found)
    return format_row(
        f"`{name}`",
        *[sum(getattr(each, count) for each in found) for count in ("posts", "unlogged", "logged_twice")],
        " / ".join(map(str, relayed)),
        sum(sent),
        *[sum(getattr(each, count) for each in found) for count in ("lost", "repeated", "changed")],
        " / ".join(map(str, sent)),
        " / ".join(f"{delay:.1f}" for delay in delays),
    )


def add_columns(rows: Iterable[Sequence[int]]) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)]


def format_range(values: Sequence[float]) -> str:
    """Return the median and the greatest of some values."""
    if not values:
        return ""
    form = "{:.0f}" if isinstance(values[0], int) else "{:.1f}"
    both = form.format(median(values)), form.format(max(values))
    return both[0] if len(values) == 1 else " / ".join(both)


def format_row(*values: Any) -> str:
    return f"| {' | '.join(str(value) for value in values)} |"


def format_reads(reads: Reads) -> str:
    times = [f"{value:.2f}" for value in (reads.hosts, reads.primary, reads.replicas)]
    latency = [f"{value:.1f}" for value in (reads.p50, reads.p99)]
    return format_row(reads.name, reads.credential, f"{reads.per_second:.0f}", *latency, reads.errors, *times)


if __name__ == "__main__":
    main()
