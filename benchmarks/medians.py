"""Computes the medians of the rounds, which all tables show."""

import statistics
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from benchmarks.measure import Run
from benchmarks.plan import Cell
from benchmarks.workloads import ALL

FIELDS = (
    "per_second p50 p99 server_cpu postgres_cpu load_cpu server_busy load_busy server_core other_core bytes memory"
).split()


class Median(NamedTuple):
    run: Run  # its numbers are the medians
    spread: float  # of the requests per second: largest minus smallest, divided by the median


def find_medians(runs: list[Run]) -> dict[Cell, Median]:
    cells: dict[Cell, list[Run]] = {}
    for run in runs:
        cells.setdefault(run.cell, []).append(run)
    return {cell: make_median(found) for cell, found in cells.items()}


def make_median(runs: list[Run]) -> Median:
    values = {name: statistics.median(getattr(run, name) for run in runs) for name in FIELDS}
    rates = [run.per_second for run in runs]
    totals = {"errors": sum(run.errors for run in runs), "odd": any(run.odd for run in runs)}
    spread = (max(rates) - min(rates)) / values["per_second"] if values["per_second"] else 0.0
    return Median(msgspec.structs.replace(runs[0], **values, **totals), spread)


def in_order(workloads: Iterable[str]) -> list[str]:
    return sorted(set(workloads), key=ALL.index)


def format_number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
