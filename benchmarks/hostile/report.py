"""The results of the attacks, their verdicts and their table."""

import math
from typing import NamedTuple

from benchmarks.hostile.attacks import Attack
from benchmarks.hostile.victim import LIMIT, Figures

ANSWERED = 0.99  # the share of requests that must be answered in time


class Result(NamedTuple):
    """One attack on one server, and the victim's figures without and with it."""

    server: str
    attack: Attack
    without: Figures
    during: Figures
    is_required: bool
    largest_p99: float  # seconds

    @property
    def passed(self) -> bool:
        return self.during.answered >= ANSWERED and self.during.percentile(99) <= self.largest_p99

    @property
    def verdict(self) -> str:
        words = "pass" if self.passed else "FAIL"
        return words if self.is_required else f"({words})"


def format_table(results: list[Result]) -> str:
    lines = [
        "| Server | Clients | Behaviour | answered | p50 ms | p99 ms | without: answered | p50 ms | p99 ms | |",
        "|---|--:|---|--:|--:|--:|--:|--:|--:|---|",
        *(format_row(result) for result in results),
    ]
    return "\n".join(lines)


def format_row(result: Result) -> str:
    attack = result.attack
    clients = f"{attack.clients:,}/s" if attack.each_second else f"{attack.clients:,}"
    cells = [result.server, clients, attack.title, *format_figures(result.during), *format_figures(result.without)]
    return f"| {' | '.join(cells)} | {result.verdict} |"


def format_figures(figures: Figures) -> list[str]:
    answered = math.floor(figures.answered * 1000) / 10  # not rounded up: 98.96 % is not 99 %
    return [f"{answered:.1f} %", format_time(figures.percentile(50)), format_time(figures.percentile(99))]


def format_time(seconds: float) -> str:
    return f"{seconds * 1000:.1f}" if seconds <= LIMIT else f"> {LIMIT * 1000:,.0f}"
