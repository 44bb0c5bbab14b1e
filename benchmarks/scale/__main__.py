"""Start two hosts behind haproxy, a primary with two replicas, Redis and PgBouncer; measure reads, and fail over.

Everything runs on this machine, on free ports, and is removed at the end, also after Ctrl-C.
"""

import argparse
import os
import platform
import signal
import sys
from typing import Any

from benchmarks.scale.deployment import Deployment, find_haproxy
from benchmarks.scale.failover import Failover, measure_failover
from benchmarks.scale.reads import Reads, measure_reads

READS_HEADER = """
| Reads | Caller | Requests/s | p50 ms | p99 ms | Errors | Hosts ms | Primary ms | Replicas ms |
|---|---|---|---|---|---|---|---|---|"""
FAILOVER_HEADER = """
| Replication | Writes | Lost | Duplicated | Reads | Failed | Own writes read | Missed | Promoted | First write | Refusals | Slowest |
|---|---|---|---|---|---|---|---|---|---|---|---|"""  # noqa: E501


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--seconds", type=int, default=8, help="of each measurement of reads (default: 8)")
    parser.add_argument("--parts", default="reads,failover", help="reads, failover or both (default)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that everything is stopped
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a shell
    find_haproxy()
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}. Processor times are for each request.")
    try:
        if "reads" in options.parts:
            run_reads(options.seconds)
        choices = (True, False) if "failover" in options.parts else ()
        results = [run_failover(synchronous=synchronous) for synchronous in choices]
    except KeyboardInterrupt:
        sys.exit(130)
    print(FAILOVER_HEADER if results else "")
    for result in results:
        print(format_failover(result))
    require_promises(results)


def run_reads(seconds: int) -> None:
    deployment = Deployment()
    try:
        deployment.start_servers(synchronous=False)
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


def run_failover(*, synchronous: bool) -> Failover:
    deployment = Deployment()
    try:
        deployment.start_servers(synchronous=synchronous)
        promoted = deployment.replicas[0]
        places = f"127.0.0.1:{deployment.primary.port},127.0.0.1:{promoted.port}"
        deployment.serve(f"postgresql://postgres@{places}/contentapi", 2)
        return measure_failover(deployment, "synchronous" if synchronous else "asynchronous")
    finally:
        deployment.close()


def format_row(*values: Any) -> str:
    return f"| {' | '.join(str(value) for value in values)} |"


def format_reads(reads: Reads) -> str:
    times = [f"{value:.2f}" for value in (reads.hosts, reads.primary, reads.replicas)]
    latency = [f"{value:.1f}" for value in (reads.p50, reads.p99)]
    return format_row(reads.name, reads.credential, f"{reads.per_second:.0f}", *latency, reads.errors, *times)


def format_failover(result: Failover) -> str:
    times = [f"{seconds:.1f} s" for seconds in (result.promoted_at, result.first_write_at)]
    counts = [len(result.acknowledged), result.lost, result.duplicated, result.reads, result.failed_reads]
    own = [result.own_writes_read, result.own_writes_missed]
    return format_row(result.replication, *counts, *own, *times, result.refusals, f"{result.slowest_refusal:.1f} s")


def require_promises(results: list[Failover]) -> None:
    """Exit with an error if an acknowledged write was lost under synchronous replication, or an effect duplicated."""
    broken = []
    for result in results:
        if result.duplicated:
            broken.append(f"{result.duplicated} duplicated effects ({result.replication})")
        if result.replication == "synchronous" and (result.lost or result.own_writes_missed):
            broken.append(f"{result.lost} lost writes, {result.own_writes_missed} own writes missed")
        if not result.first_write_at:
            broken.append(f"no write succeeded after the failover ({result.replication})")
    if broken:
        sys.exit("Broken: " + "; ".join(broken) + ".")


if __name__ == "__main__":
    main()
