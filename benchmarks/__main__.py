"""`python -m benchmarks`: start what is compared, check the answers, measure in turn, print tables. See README.md."""

import argparse
import fcntl
import os
import shutil
import signal
import sys
from datetime import datetime

from benchmarks import check, memory
from benchmarks.database import Postgres, make_credentials
from benchmarks.install import install
from benchmarks.measure import Run, measure, save, warm_up
from benchmarks.places import LOGS, RESULTS, WORK
from benchmarks.processes import DATABASE_CORE, SERVER_CORE
from benchmarks.report import report, write
from benchmarks.servers import OBVIOUS, PEERS_BY_NAME, Server
from benchmarks.workloads import ALL, GROUPS

MEMORY = "memory"


def main() -> None:
    options = read_options()
    require_this_machine()
    for folder in (LOGS, RESULTS):
        folder.mkdir(parents=True, exist_ok=True)
    one_at_a_time()
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, lambda *_: sys.exit("ended by a signal"))  # so that `finally` runs
    for_memory = options.workloads == [MEMORY]
    chosen = [PEERS_BY_NAME[name] for name in options.peers if not for_memory or PEERS_BY_NAME[name].is_ours]
    missing = {peer.name: peer.missing for peer in chosen if peer.missing}
    for name, why in missing.items():
        print(f"{name} is skipped: {why}", flush=True)
    measured = [peer for peer in chosen if not peer.missing]
    started = measured if for_memory or OBVIOUS in options.peers else [*measured, PEERS_BY_NAME[OBVIOUS]]
    for kit in {peer.kit for peer in started}:
        install(kit)
    os.sched_setaffinity(0, {DATABASE_CORE})  # what the benchmark itself does, and those it starts
    postgres = Postgres()
    postgres.start()
    databases = postgres.load()
    credentials = make_credentials(databases["contentapi"])
    servers = [Server(peer, databases[peer.database], credentials) for peer in started]
    try:
        for server in servers:
            server.start()
        compared = [server for server in servers if server.name in options.peers]
        if for_memory:
            write(memory.table(compared), RESULTS / f"{now()}-memory.md")
            return
        notes = check_all(compared, next(server for server in servers if server.name == OBVIOUS), options.workloads)
        if not options.check_only:
            notes += [f"{name}: not measured. {why}." for name, why in missing.items()]
            measure_all(compared, options, notes, postgres.pid)
    finally:
        for server in servers:
            server.stop()


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    groups = ", ".join([*GROUPS, MEMORY])
    parser.add_argument("--peers", type=words, default=list(PEERS_BY_NAME), help="separated by commas; default: all")
    parser.add_argument("--workloads", type=words, default=["default"], help=f"groups ({groups}), or: {', '.join(ALL)}")
    parser.add_argument("--connections", type=numbers, default=[16], help="such as 1,16; default: 16")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=8, help="of a measured run; default: 8")
    parser.add_argument("--check-only", action="store_true", help="compare the answers and measure nothing")
    options = parser.parse_args()
    if options.workloads != [MEMORY]:
        options.workloads = [name for word in options.workloads for name in GROUPS.get(word, (word,))]
        if unknown := [name for name in options.workloads if name not in ALL]:
            parser.error(f"no such workload: {', '.join(unknown)}; there are {groups}, and {', '.join(ALL)}")
    if unknown := [name for name in options.peers if name not in PEERS_BY_NAME]:
        parser.error(f"no such server: {', '.join(unknown)}; there are {', '.join(PEERS_BY_NAME)}")
    return options


def words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def numbers(text: str) -> list[int]:
    return [int(word) for word in words(text)]


def require_this_machine() -> None:
    """End with status 2, and say what to do, where nothing can be measured."""
    trouble = None
    if not sys.platform.startswith("linux"):
        trouble = "The benchmark needs Linux: it pins processes to cores and reads their CPU time from /proc."
    elif not {SERVER_CORE, DATABASE_CORE} <= os.sched_getaffinity(0):
        trouble = "The benchmark needs two cores, 0 and 1: one for the server, one for PostgreSQL and the load."
    elif not shutil.which("wrk"):
        trouble = "wrk, which makes the load, is not installed: apt-get install wrk (or brew install wrk)."
    if trouble:
        print(trouble, file=sys.stderr)
        sys.exit(2)


def one_at_a_time() -> None:
    lock = os.open(WORK / "lock", os.O_RDWR | os.O_CREAT, 0o600)  # held until this process ends
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit("Another benchmark runs in this checkout: wait for it.")


def check_all(servers: list[Server], obvious: Server, workloads: list[str]) -> list[str]:
    """Compare every server's answers with those of the obvious one. Returns notes; ends where one is wrong."""
    reference = check.reference_answers(obvious)
    wrong = False
    for server in servers:
        problems = check.problems_of(server, reference, workloads)
        print(f"check {server.name}: {'; '.join(problems) or 'ok'}", flush=True)
        wrong = wrong or bool(problems)
    if wrong:
        sys.exit("The answers are not equal: nothing is measured.")
    return [f"The answers of all servers are equal to those of {obvious.name}, and none was stale."]


def measure_all(servers: list[Server], options: argparse.Namespace, notes: list[str], postgres: int) -> None:
    for server in servers:  # the just-in-time compilers see every workload once
        for workload in options.workloads:
            warm_up(server, workload, 16, "first")
        server.database.clean()
    runs: list[Run] = []
    result = RESULTS / now()
    for number in range(options.rounds):
        for workload in options.workloads:
            for connections in options.connections:
                first = number * 3 % len(servers)  # each round begins with another one
                for server in servers[first:] + servers[:first]:
                    run = measure(server, workload, connections, options.seconds, number, postgres)
                    runs.append(run)
                    print(line(run), flush=True)
                save(runs, result.with_suffix(".json"))
    write(report(runs, options.seconds, notes), result.with_suffix(".md"))


def now() -> str:
    return f"{datetime.now():%Y-%m-%d-%H%M%S}"  # noqa: DTZ005 - the operator's time


def line(run: Run) -> str:
    return (
        f"{run.round} {run.workload} c{run.connections} {run.server:21} {run.per_second:8.0f}/s p50 {run.p50:.2f}"
        f" p99 {run.p99:.2f} cpu {run.server_cpu:.3f}+{run.postgres_cpu:.3f} cores {run.server_core:.0%}"
        f" {run.other_core:.0%} errors {run.errors}{', odd sizes' * run.odd}"
    )


if __name__ == "__main__":
    main()
