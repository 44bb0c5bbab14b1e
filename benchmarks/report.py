"""The tables, in Markdown: medians of the rounds, and ratios to ours."""

import os
import platform
import statistics
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks.measure import Run
from benchmarks.processes import DATABASE_CORE, SERVER_CORE
from benchmarks.workloads import ALL, GROUPS, ROWS


class Cell(NamedTuple):
    """A workload, at a number of connections, on a server."""

    workload: str
    connections: int
    server: str


class Median(NamedTuple):
    run: Run  # its numbers are the medians
    spread: float  # of the requests per second: largest less smallest, by the median


MEDIANS = "per_second p50 p99 server_cpu postgres_cpu server_busy load_busy server_core other_core bytes memory".split()


def medians(runs: list[Run]) -> dict[Cell, Median]:
    cells: dict[Cell, list[Run]] = {}
    for run in runs:
        cells.setdefault(Cell(run.workload, run.connections, run.server), []).append(run)
    return {cell: median(found) for cell, found in cells.items()}


def median(runs: list[Run]) -> Median:
    values = {name: statistics.median(getattr(run, name) for run in runs) for name in MEDIANS}
    rates = [run.per_second for run in runs]
    totals = {"errors": sum(run.errors for run in runs), "odd": any(run.odd for run in runs)}
    return Median(
        msgspec.structs.replace(runs[0], **values, **totals), (max(rates) - min(rates)) / values["per_second"]
    )


def report(runs: list[Run], seconds: int, notes: list[str]) -> str:
    """Return all tables. `runs` must not be empty."""
    found = medians(runs)
    rounds = 1 + max(run.round for run in runs)
    lines = [
        f"# Side by side, {date.today()}",  # noqa: DTZ011 - the operator's day
        "",
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}.",
        f"One process for each server, on core {SERVER_CORE}; PostgreSQL and wrk on core {DATABASE_CORE}.",
        f"Medians of {rounds} interleaved rounds of {seconds} s.",
        "CPU is user and system time for each request; `of ours`: a server's figure by ours.",
        "",
        *(f"* {note}" for note in notes),
        "",
    ]
    for connections in sorted({run.connections for run in runs}):
        for workload in in_order(run.workload for run in runs):
            lines += table(found, workload, connections)
        if any(run.workload in GROUPS["growth"] for run in runs):
            lines += growth(found, connections)
    return "\n".join([*lines, *noise(runs), *memory(runs)])


def in_order(workloads: Iterable[str]) -> list[str]:
    return sorted(set(workloads), key=ALL.index)


def table(found: dict[Cell, Median], workload: str, connections: int) -> list[str]:
    rows = [median for cell, median in found.items() if cell[:2] == (workload, connections)]
    ours = found.get(Cell(workload, connections, "ours"), rows[0]).run
    lines = [
        f"## {workload}, {connections} connection{'s' * (connections > 1)}",
        "",
        "| | requests/s | of ours | p50 ms | p99 ms | server CPU ms | of ours | PostgreSQL CPU ms"
        " | bound by | spread | kB | errors |",
        "|---|--:|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|",
    ]
    for run, spread in sorted(rows, key=lambda row: -row.run.per_second):
        cells = [
            run.server,
            f"{run.per_second:,.0f}",
            f"{run.per_second / ours.per_second:.2f}",
            short(run.p50),
            short(run.p99),
            f"{run.server_cpu:.3f}",
            f"{run.server_cpu / ours.server_cpu:.2f}" if ours.server_cpu else "",
            f"{run.postgres_cpu:.3f}",
            run.bound,
            f"{spread:.0%}",
            f"{run.bytes / 1e3:.1f}",
            f"{run.errors}{', odd sizes' * run.odd}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def growth(found: dict[Cell, Median], connections: int) -> list[str]:
    """Return what a page costs by its rows: the server's and PostgreSQL's CPU together."""
    lines = [
        f"## Growth with the rows, {connections} connection{'s' * (connections > 1)}",
        "",
        f"| CPU ms of server and PostgreSQL (of that for a row) | {' | '.join(f'{count} rows' for count in ROWS)} |",
        f"|---|{'--:|' * len(ROWS)}",
    ]
    for server in dict.fromkeys(cell.server for cell in found):
        cells = []
        for count in ROWS:
            median = found.get(Cell(f"rows{count}", connections, server))
            total = median.run.server_cpu + median.run.postgres_cpu if median else 0.0
            cells.append(f"{total:.2f} ({total / count:.3f})" if median else "")
        lines.append(f"| {server} | {' | '.join(cells)} |")
    return [*lines, ""]


def noise(runs: list[Run]) -> list[str]:
    """Name the runs that others have disturbed most."""
    shares = [
        (others, f"core {core}, {run.server} {run.workload}: {others:.0%}")
        for run in runs
        for core, others in (
            (SERVER_CORE, run.server_core - run.server_busy),
            (DATABASE_CORE, run.other_core - run.load_busy),
        )
    ]
    worst = "; ".join(words for _, words in sorted(shares, reverse=True)[:4])
    return [f"Busy with others (and with the kernel's work for the network), the most: {worst}.", ""]


def memory(runs: list[Run]) -> list[str]:
    most: dict[str, float] = {}
    for run in runs:
        most[run.server] = max(run.memory, most.get(run.server, 0))
    return [
        "Resident memory, the most seen: " + ", ".join(f"{name} {size:.0f} MB" for name, size in most.items()) + ".",
        "",
    ]


def short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def write(text: str, path: Path) -> None:
    path.write_text(text)
    print(f"\n{text}\n{path}", flush=True)
