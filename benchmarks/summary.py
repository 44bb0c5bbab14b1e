"""The short form of the results, in Markdown: the part of `benchmarks/README.md` between its two marks."""

from datetime import date

from benchmarks import requirements
from benchmarks.measure import Run
from benchmarks.medians import Median, find_medians, format_number, in_order
from benchmarks.plan import MAIN, Cell, Setting

CELL = "requests/s · p99 in ms · p99/p50 · CPU ms of a request"
COLUMNS = 3  # workloads beside each other in a table


def summarise(runs: list[Run], seconds: int) -> str:
    """Return the verdicts, the main setting, and the other settings. `runs` must not be empty."""
    medians = find_medians(runs)
    rounds = 1 + max(run.round for run in runs)
    others = side_tables(medians)
    lines = [
        f"One run of `make bench`, {date.today()}: medians of {rounds} interleaved rounds of {seconds} s.",  # noqa: DTZ011 - the operator's day
        "",
        "### Requirements",
        "",
        *requirements.table({cell: median.run for cell, median in medians.items()}),
        "",
        f"### All servers ({MAIN})",
        "",
        f"Each cell: {CELL}, server + PostgreSQL.",
        "",
        *main_tables(medians),
    ]
    if others:
        lines += ["### Other settings", "", f"Each cell: {CELL}, server and PostgreSQL together.", "", *others]
    return "\n".join(lines)


def main_tables(medians: dict[Cell, Median]) -> list[str]:
    workloads = in_order(cell.workload for cell in medians if cell.setting == MAIN)
    servers = list(dict.fromkeys(cell.server for cell in medians if cell.setting == MAIN))
    lines = []
    for start in range(0, len(workloads), COLUMNS):
        group = workloads[start : start + COLUMNS]
        lines += head(["server", *(f"`{workload}`" for workload in group)])
        for server in servers:
            found = [medians.get(Cell(workload, MAIN, server)) for workload in group]
            lines.append(row([server, *(full_cell(median.run) if median else "" for median in found)]))
        lines.append("")
    return lines


def side_tables(medians: dict[Cell, Median]) -> list[str]:
    """Return a table for each workload that was measured in several settings: a column for each setting."""
    lines = []
    for workload in in_order(cell.workload for cell in medians):
        settings = list(dict.fromkeys(cell.setting for cell in medians if cell.workload == workload))
        if settings == [MAIN]:
            continue
        servers = dict.fromkeys(cell.server for cell in medians if cell.workload == workload and cell.setting != MAIN)
        for group in split(settings):
            lines += head([f"`{workload}`", *(str(setting) for setting in group)])
            for server in servers:
                found = [medians.get(Cell(workload, setting, server)) for setting in group]
                lines.append(row([server, *(short_cell(median.run) if median else "" for median in found)]))
            lines.append("")
    return lines


def split(settings: list[Setting]) -> list[list[Setting]]:
    return [settings[start : start + COLUMNS] for start in range(0, len(settings), COLUMNS)]


def full_cell(run: Run) -> str:
    cpu = f"{run.server_cpu:.3f}+{run.postgres_cpu:.3f}"
    return f"{run.per_second:,.0f} · {format_number(run.p99)} · {run.tail:.1f} · {cpu}{errors(run)}"


def short_cell(run: Run) -> str:
    return f"{run.per_second:,.0f} · {format_number(run.p99)} · {run.tail:.1f} · {run.total_cpu:.3f}{errors(run)}"


def errors(run: Run) -> str:
    return f" · **{run.errors} errors**" if run.errors else ""


def head(names: list[str]) -> list[str]:
    return [row(names), f"|---|{'--:|' * (len(names) - 1)}"]


def row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
