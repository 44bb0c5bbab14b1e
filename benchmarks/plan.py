"""Plans a benchmark: the workloads, settings and servers to measure.

The default plan measures every server and workload in the main setting, and the other settings with a few servers and
workloads. Settings that are chosen on the command line are measured with all chosen servers and workloads.
"""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

from benchmarks.conditions import BROWSER, VARIED
from benchmarks.postgres import SOCKET, TCP
from benchmarks.servers import OURS, OURS_GUNICORN


class Setting(NamedTuple):
    """How a workload is sent, and how the servers reach PostgreSQL."""

    condition: str = VARIED
    transport: str = SOCKET
    connections: int = 16

    def __str__(self) -> str:
        parts = [self.condition, f"{self.connections} connection{'' if self.connections == 1 else 's'}"]
        if self.transport == TCP:
            parts.append("PostgreSQL over TCP")
        return ", ".join(parts)


class Cell(NamedTuple):
    """One cell of a table: a workload under a setting on a server."""

    workload: str
    setting: Setting
    server: str


class Step(NamedTuple):
    """A workload under a setting, and the servers that take turns at it."""

    workload: str
    setting: Setting
    servers: tuple[str, ...]


MAIN = Setting()
SIDE_SERVERS = (OURS, OURS_GUNICORN, "mercurius-dataloader", "bun-jit")
SIDE_WORKLOADS = {
    Setting(condition=BROWSER): ("post", "page10", "create"),
    Setting(transport=TCP): ("post", "page10", "create"),
    Setting(connections=1): ("post", "page10"),
    Setting(connections=64): ("post", "page10"),
    Setting(connections=256): ("post", "page10"),
}


def make_default_plan(servers: Sequence[str], workloads: Sequence[str]) -> list[Step]:
    """Return the main setting for all servers, and the other settings for the side servers among them."""
    sides = tuple(name for name in servers if name in SIDE_SERVERS)
    steps = []
    for workload in workloads:
        steps.append(Step(workload, MAIN, tuple(servers)))
        if sides:
            chosen = (setting for setting, names in SIDE_WORKLOADS.items() if workload in names)
            steps += [Step(workload, setting, sides) for setting in chosen]
    return steps


def make_plan(servers: Sequence[str], workloads: Sequence[str], settings: Iterable[Setting]) -> list[Step]:
    """Return every setting for all servers and workloads."""
    chosen = list(settings)
    return [Step(workload, setting, tuple(servers)) for workload in workloads for setting in chosen]


def combine_settings(
    conditions: Sequence[str] | None, transports: Sequence[str] | None, connections: Sequence[int] | None
) -> list[Setting]:
    """Return every combination. A dimension that is None has the value of the main setting."""
    combinations = product(
        conditions or [MAIN.condition], transports or [MAIN.transport], connections or [MAIN.connections]
    )
    return [Setting(*combination) for combination in combinations]


def count_seconds(plan: list[Step], *, rounds: int, seconds: int) -> int:
    """Estimate the duration of a plan in seconds. Each run adds a second of warm-up and half a second of overhead."""
    return round(sum(len(step.servers) for step in plan) * rounds * (seconds + 1.5))
