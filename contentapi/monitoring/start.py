"""Start the figures of a process, which it writes to a file once a second, and the export of a server."""

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import msgspec
import psutil

from contentapi.conf.timeouts import SNAPSHOT_INTERVAL
from contentapi.monitoring.figures import FIGURES, FOLDER_VARIABLE, Figures, Sample, build_snapshot_name

LOG = logging.getLogger("contentapi.metrics")


class SnapshotWriter:
    """Writes the figures of this process to a file in `folder`, once a second, and at the end of the process.

    The name of the file holds the id of the process and its start, because ids are used again. A failure to write,
    such as a full disk, is one log line; the process goes on.
    """

    def __init__(self, figures: Figures, folder: Path, role: str) -> None:
        self.figures = figures
        self.process = psutil.Process()
        self.role = role
        self.path = folder / build_snapshot_name(self.process)
        self.has_failed = False
        self.stop = Event()
        self.writing = Lock()

    def start(self) -> None:
        Thread(target=self.run, name="metrics", daemon=True).start()

    def run(self) -> None:
        while not self.stop.wait(SNAPSHOT_INTERVAL):
            self.write()

    def write(self) -> None:
        """Write the figures. A reader sees the old file or the new one."""
        snapshot = self.figures.take_snapshot()
        counters, gauges = measure_process(self.process, self.role)
        snapshot.counters += counters
        snapshot.gauges += gauges
        draft = self.path.with_suffix(".draft")
        with self.writing:
            try:
                draft.write_bytes(msgspec.json.encode(snapshot))
                draft.replace(self.path)
                self.has_failed = False
            except OSError as error:
                if not self.has_failed:
                    LOG.warning("The metrics of process %s cannot be written: %s", self.process.pid, error.strerror)
                self.has_failed = True


def measure_process(process: psutil.Process, role: str) -> tuple[Sequence[Sample], Sequence[Sample]]:
    """Return the counters and the gauges of a process."""
    with process.oneshot():
        times, memory = process.cpu_times(), process.memory_info()
        gauges: dict[str, float] = {
            "contentapi_processes": 1,
            "contentapi_resident_memory_bytes": memory.rss,
            "contentapi_open_files": process.num_fds(),
            "contentapi_threads": process.num_threads(),
        }
    counters: list[Sample] = [("contentapi_cpu_seconds_total", (role,), times.user + times.system)]
    return counters, [(name, (role,), value) for name, value in gauges.items()]


WRITERS: list[SnapshotWriter] = []  # of this process: at most one


def start_exporter(address: str) -> None:
    """Serve /metrics at this address, unless it is empty or a parent process serves it. See `serve_metrics`."""
    if address and FOLDER_VARIABLE not in os.environ:
        from contentapi.monitoring.exporter import serve_metrics

        serve_metrics(address)


def start_figures(role: str) -> None:
    """Count in this process from now on, if a parent process exports metrics. `role` is `server` or `worker`."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder and not any(writer.process.pid == os.getpid() for writer in WRITERS):
        writer = SnapshotWriter(FIGURES, Path(folder), role)
        WRITERS[:] = [writer]
        FIGURES.is_enabled = True
        writer.write()
        writer.start()


def flush_figures(*_: Any) -> None:
    """Write the last figures of a process that ends."""
    for writer in WRITERS:
        if writer.process.pid == os.getpid():
            writer.write()
