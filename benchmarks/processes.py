"""Reads the CPU time and memory of processes and the busy time of a core from the kernel. Linux only."""

import os
import time
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
    """Return the CPU time of a process and its descendants so far, including those that have ended."""
    return sum(sum(get_cpu_times(process)) for process in with_descendants(pid))


def running_seconds(pid: int) -> float:
    """Return how long the threads of a process and its descendants have run, those that have ended left out.

    The kernel counts these in nanoseconds, and the times of `cpu_seconds` in hundredths of a second.
    """
    total = 0
    for process in with_descendants(pid):
        for thread in Path(f"/proc/{process.pid}/task").glob("*/schedstat"):
            with suppress(OSError):  # it has just ended
                total += int(thread.read_text().split()[0])
    return total / 1e9


def get_cpu_times(process: psutil.Process) -> tuple[float, ...]:
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
    """Let all threads of some processes use one core. Those that they start from now on inherit it."""
    for process in processes:
        with suppress(psutil.NoSuchProcess, ProcessLookupError):
            for thread in process.threads():
                os.sched_setaffinity(thread.id, {core})


def measure_load(seconds: float) -> float:
    """Wait for some seconds. Return the processor time that programs used meanwhile for each second: 1 is a core."""
    cores = range(os.cpu_count() or 1)
    before = sum(map(busy_seconds, cores))
    time.sleep(seconds)
    return (sum(map(busy_seconds, cores)) - before) / seconds
