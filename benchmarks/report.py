"""Writes all tables in Markdown: one for each workload and setting, with the medians of the rounds."""

import os
import platform
from datetime import date
from pathlib import Path

from benchmarks import requirements
from benchmarks.install import describe_python
from benchmarks.measure import Run
from benchmarks.medians import Median, find_medians, format_number, in_order
from benchmarks.plan import MAIN, Cell, Setting
from benchmarks.processes import DATABASE_CORE, SERVER_CORE
from benchmarks.servers import OURS
from benchmarks.workloads import GROUPS, ROWS


def report(runs: list[Run], seconds: int, notes: list[str]) -> str:
    """Return all tables. `runs` must not be empty."""
    medians = find_medians(runs)
    rounds = 1 + max(run.round for run in runs)
    lines = [
        f"# Comparison with other servers, {date.today()}",  # noqa: DTZ011 - the operator's day
        "",
        f"{platform.machine()}, {os.cpu_count()} cores, Python {describe_python()}.",
        f"One process for each server, on core {SERVER_CORE}; PostgreSQL and wrk on core {DATABASE_CORE}.",
        f"Medians of {rounds} interleaved rounds of {seconds} s.",
        f"CPU is user and system time per request. `of {OURS}` is a server's figure divided by that of `{OURS}`.",
        "",
        *(f"* {note}" for note in notes),
        "",
        "## Requirements",
        "",
        *requirements.table({cell: median.run for cell, median in medians.items()}),
        "",
    ]
    for workload in in_order(run.workload for run in runs):
        for setting in dict.fromkeys(run.cell.setting for run in runs if run.workload == workload):
            lines += table(medians, workload, setting)
    if any(run.workload in GROUPS["growth"] for run in runs):
        lines += growth_table(medians)
    return "\n".join([*lines, *describe_load(runs), *describe_noise(runs), *describe_memory(runs)])


def table(medians: dict[Cell, Median], workload: str, setting: Setting) -> list[str]:
    rows = [median for cell, median in medians.items() if cell[:2] == (workload, setting)]
    ours = medians.get(Cell(workload, setting, OURS), rows[0]).run
    lines = [
        f"## {workload} ({setting})",
        "",
        f"| | requests/s | of {OURS} | p50 ms | p99 ms | p99/p50 | CPU ms: server | PostgreSQL | together | of {OURS}"
        " | bound by | spread | kB | errors |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|",
    ]
    for run, spread in sorted(rows, key=lambda row: -row.run.per_second):
        cells = [
            run.server,
            f"{run.per_second:,.0f}",
            ratio(run.per_second, ours.per_second),
            format_number(run.p50),
            format_number(run.p99),
            f"{run.tail:.1f}",
            f"{run.server_cpu:.3f}",
            f"{run.postgres_cpu:.3f}",
            f"{run.total_cpu:.3f}",
            ratio(run.total_cpu, ours.total_cpu),
            run.bound,
            f"{spread:.0%}",
            f"{run.bytes / 1e3:.1f}",
            f"{run.errors}{', odd sizes' * run.odd}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def ratio(value: float, other: float) -> str:
    return f"{value / other:.2f}" if other else ""


def growth_table(medians: dict[Cell, Median]) -> list[str]:
    """Return the CPU time of a page by its number of rows, of server and PostgreSQL together."""
    lines = [
        f"## Growth with the rows ({MAIN})",
        "",
        f"| CPU ms of server and PostgreSQL (per row) | {' | '.join(f'{count} rows' for count in ROWS)} |",
        f"|---|{'--:|' * len(ROWS)}",
    ]
    for server in dict.fromkeys(cell.server for cell in medians):
        cells = []
        for count in ROWS:
            median = medians.get(Cell(f"rows{count}", MAIN, server))
            total = median.run.total_cpu if median else 0.0
            cells.append(f"{total:.2f} ({total / count:.3f})" if median else "")
        lines.append(f"| {server} | {' | '.join(cells)} |")
    return [*lines, ""]


def describe_load(runs: list[Run]) -> list[str]:
    """State the share of its core that the load generator used. It must not limit a server."""
    shares = [(run.load_cpu * run.per_second / 1e3, run) for run in runs]
    share, run = max(shares, key=lambda pair: pair[0])
    words = (
        f"wrk used at most {share:.0%} of its core ({run.load_cpu:.4f} ms per request: {run.server} {run.workload})."
    )
    return [words, ""]


def describe_noise(runs: list[Run]) -> list[str]:
    """Name the runs that other processes disturbed most, with the share of the core that these used."""
    shares = [
        (others, f"core {core}, {run.server} {run.workload}: {others:.0%}")
        for run in runs
        for core, others in (
            (SERVER_CORE, run.server_core - run.server_busy),
            (DATABASE_CORE, run.other_core - run.load_busy),
        )
    ]
    worst = "; ".join(words for _, words in sorted(shares, reverse=True)[:4])
    return [f"Time of other processes, and of the kernel for the network, at most: {worst}.", ""]


def describe_memory(runs: list[Run]) -> list[str]:
    most: dict[str, float] = {}
    for run in runs:
        most[run.server] = max(run.memory, most.get(run.server, 0))
    return ["Resident memory, at most: " + ", ".join(f"{name} {size:.0f} MB" for name, size in most.items()) + ".", ""]


def write(text: str, path: Path) -> None:
    path.write_text(text)
    print(f"\n{text}\n{path}", flush=True)
