"""`python -m benchmarks`: start the servers, compare their responses, measure them in turn, print tables."""

import fcntl
import os
import shutil
import signal
import sys
from datetime import datetime
from pathlib import Path

from benchmarks import check, memory
from benchmarks.database import Postgres, make_credentials
from benchmarks.install import describe_python, install, use_optimised_python
from benchmarks.measure import Run, measure_with_retry, save, warm_up
from benchmarks.options import Options, read_options
from benchmarks.places import LOGS, RESULTS, WORK
from benchmarks.plan import MAIN, Step, count_seconds
from benchmarks.postgres import SOCKET, TCP
from benchmarks.processes import DATABASE_CORE, SERVER_CORE, measure_load
from benchmarks.report import report, write
from benchmarks.servers import PEERS_BY_NAME, REFERENCE, Peer, Server
from benchmarks.summary import summarise

LARGEST_LOAD = 0.3  # cores that other programs use
LOAD_SECONDS = 3.0  # for which their load is measured
Key = tuple[str, str]  # a server's name and its transport to PostgreSQL


def main() -> None:
    options = read_options()
    require_supported_machine(options)
    use_optimised_python()
    print(f"Python {describe_python()}", flush=True)
    for folder in (LOGS, RESULTS):
        folder.mkdir(parents=True, exist_ok=True)
    lock_checkout()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit("ended by a signal"))  # so that `finally` runs
    peers, skipped = install_peers(options)
    plan = options.plan([peer.name for peer in peers])
    os.sched_setaffinity(0, {DATABASE_CORE})  # for the benchmark itself, and for the processes that it starts
    postgres = Postgres()
    postgres.start(with_tcp=any(step.setting.transport == TCP for step in plan))
    servers = make_servers(postgres, options, plan, peers)
    try:
        for server in servers.values():
            server.start()
        if options.for_memory:
            write(memory.table(list(servers.values())), RESULTS / f"{format_now()}-memory.md")
            return
        note = check_all(servers, options)
        if not options.check_only:
            measure_all(servers, plan, options, [note, *skipped], postgres.pid)
    finally:
        for server in servers.values():
            server.stop()


def install_peers(options: Options) -> tuple[list[Peer], list[str]]:
    """Return the peers that run on this machine, and a note for each that does not."""
    chosen = [PEERS_BY_NAME[name] for name in options.peers]
    if options.for_memory:
        chosen = [peer for peer in chosen if peer.is_ours]
    reasons = {peer.name: peer.missing_tools for peer in chosen}
    kits = {peer.kit for peer in chosen if not reasons[peer.name]}
    if not options.for_memory:
        kits.add(PEERS_BY_NAME[REFERENCE].kit)
    for kit in sorted(kits):
        install(kit)
    reasons |= {peer.name: peer.missing_program for peer in chosen if not reasons[peer.name]}
    skipped = [f"{name} is skipped: {reason}." for name, reason in reasons.items() if reason]
    for note in skipped:
        print(note, flush=True)
    return [peer for peer in chosen if not reasons[peer.name]], skipped


def make_servers(postgres: Postgres, options: Options, plan: list[Step], peers: list[Peer]) -> dict[Key, Server]:
    """Return the servers that the plan needs, one for each transport, and the one with the reference responses."""
    keys = dict.fromkeys((name, step.setting.transport) for step in plan for name in step.servers)
    if options.for_memory:
        keys = dict.fromkeys((peer.name, SOCKET) for peer in peers)
    else:
        keys.setdefault((REFERENCE, SOCKET))
    others = {peer.database: (peer.folder, Path(peer.command[0])) for peer in peers if peer.is_ours and peer.kit}
    databases = postgres.load(others)
    credentials = {name: make_credentials(databases[name]) for name in ("contentapi", *others)}
    return {
        (peer.name, transport): Server(peer, databases[peer.database], credentials.get(peer.database, {}), transport)
        for peer, transport in ((PEERS_BY_NAME[name], transport) for name, transport in keys)
    }


def require_supported_machine(options: Options) -> None:
    """Exit with status 2 and a message if the benchmark cannot run on this machine."""
    problem = None
    if not sys.platform.startswith("linux"):
        problem = "The benchmark needs Linux: it pins processes to cores and reads their CPU time from /proc."
    elif not {SERVER_CORE, DATABASE_CORE} <= os.sched_getaffinity(0):
        problem = "The benchmark needs two cores, 0 and 1: one for the server, one for PostgreSQL and the load."
    elif not options.check_only and not shutil.which("wrk"):
        problem = "wrk, the load generator, is not installed: apt-get install wrk (or brew install wrk)."
    elif not options.check_only and (load := measure_load(LOAD_SECONDS)) > LARGEST_LOAD:
        problem = f"Other programs use {load:.1f} cores; the benchmark needs an idle machine (at most {LARGEST_LOAD})."
    if problem:
        print(problem, file=sys.stderr)
        sys.exit(2)


def lock_checkout() -> None:
    lock = os.open(WORK / "lock", os.O_RDWR | os.O_CREAT, 0o600)  # locked until this process ends
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit("Another benchmark is running in this checkout. Wait until it ends.")


def check_all(servers: dict[Key, Server], options: Options) -> str:
    """Compare the responses of all servers with the reference. Returns a note; exits if one differs."""
    reference = check.reference_responses(servers[REFERENCE, SOCKET])
    failed = False
    for (name, transport), server in servers.items():
        problems = check.find_problems(server, reference, options.workloads)
        print(f"check {name} ({transport}): {'; '.join(problems) or 'ok'}", flush=True)
        failed = failed or bool(problems)
    if failed:
        sys.exit("The responses differ, so nothing is measured.")
    return f"The responses of all servers equal those of {REFERENCE}, and none was stale."


def measure_all(
    servers: dict[Key, Server], plan: list[Step], options: Options, notes: list[str], postgres: int
) -> None:
    minutes = count_seconds(plan, rounds=options.rounds, seconds=options.seconds) / 60
    print(f"Measuring; this takes about {minutes:.0f} minutes.", flush=True)
    warm_up_all(servers, plan)
    runs: list[Run] = []
    result = RESULTS / format_now()
    for number in range(options.rounds):
        for step in plan:
            # Each round begins with another server.
            first = number * max(1, len(step.servers) // options.rounds) % len(step.servers)
            for name in step.servers[first:] + step.servers[:first]:
                server = servers[name, step.setting.transport]
                run = measure_with_retry(server, step.workload, step.setting, options.seconds, number, postgres)
                runs.append(run)
                print(format_run(run), flush=True)
            save(runs, result.with_suffix(".json"))
    write(report(runs, options.seconds, notes), result.with_suffix(".md"))
    result.with_suffix(".csv").write_text(summarise(runs))


def warm_up_all(servers: dict[Key, Server], plan: list[Step]) -> None:
    """Send every workload to every server that it is measured on, so that just-in-time compilers have run."""
    pairs = dict.fromkeys((step.workload, name, step.setting.transport) for step in plan for name in step.servers)
    for workload, name, transport in pairs:
        warm_up(servers[name, transport], workload, MAIN, "first")
    for server in servers.values():
        server.database.clean()


def format_now() -> str:
    return f"{datetime.now():%Y-%m-%d-%H%M%S}"  # noqa: DTZ005 - the operator's time


def format_run(run: Run) -> str:
    return (
        f"{run.round} {run.workload}, {run.cell.setting}: {run.server:21} {run.per_second:8.0f}/s p50 {run.p50:.2f}"
        f" p99 {run.p99:.2f} cpu {run.server_cpu:.3f}+{run.postgres_cpu:.3f} cores {run.server_core:.0%}"
        f" {run.other_core:.0%} errors {run.errors}{', odd sizes' * run.odd}"
    )


if __name__ == "__main__":
    main()
