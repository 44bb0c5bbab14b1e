"""What the kernel counts: CPU time and memory of processes, and how busy a core was. Linux only."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import psutil

TICKS = os.sysconf("SC_CLK_TCK")
SERVER_CORE, DATABASE_CORE = 0, 1  # PostgreSQL and the load generator share the second


def with_descendants(pid: int) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    return []


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process and its descendants so far, those that have ended included."""
    return sum(sum(times_of(process)) for process in with_descendants(pid))


def times_of(process: psutil.Process) -> tuple[float, ...]:
    with suppress(psutil.NoSuchProcess):
        return tuple(process.cpu_times())[:4]  # user, system, and both of children that were waited for
    return ()


def resident_megabytes(pid: int) -> float:
    total = 0
    for process in with_descendants(pid):
        with suppress(psutil.NoSuchProcess):
            total += process.memory_info().rss
    return total / 2**20


def busy_seconds(core: int) -> float:
    for line in Path("/proc/stat").read_text().splitlines():
        name, *numbers = line.split()
        if name == f"cpu{core}":
            user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, numbers[:8])
            return (user + nice + system + irq + softirq + steal) / TICKS
    return 0.0


def pin(processes: Iterable[psutil.Process], core: int) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.cpu_affinity([core])
