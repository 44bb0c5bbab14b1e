"""Serve /metrics at CONTENTAPI_METRICS_BIND: the sum of the figures of all processes of this server.

The first process of a server (`manage.py serve`, or the master of granian or gunicorn) exports; all of its processes
write their figures into a folder. The address is a separate one, so that no client of the API can reach it.
"""

import atexit
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Lock, Thread
from time import sleep

import msgspec
import psutil
from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from contentapi.conf.timeouts import COLLECT_INTERVAL
from contentapi.monitoring.figures import FOLDER_VARIABLE, Labels, Sample, Snapshot, build_snapshot_name
from contentapi.monitoring.metrics import METRICS
from contentapi.monitoring.owned_folder import OwnedFolder

FOLDER_PREFIX = "contentapi-metrics-"
SNAPSHOT = msgspec.json.Decoder(Snapshot)
Totals = dict[tuple[str, Labels], float]  # the sums over snapshots


class SnapshotCollector(Collector):
    """Adds up the snapshots in a folder. prometheus-client calls `collect` for each request to /metrics.

    The figures of a process that has ended are kept here and its file is deleted, so that the number of files does not
    grow with the processes that a server replaces.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ended = Totals()
        self.lock = Lock()

    def add_up(self) -> Totals:
        with self.lock:
            living = Totals()
            for path in sorted(self.folder.glob("*.json")):
                is_alive = is_process_alive(path.name)  # before the file is read: it has written its last figures
                try:
                    snapshot = SNAPSHOT.decode(path.read_bytes())
                except (OSError, msgspec.DecodeError):
                    continue
                if is_alive:
                    add_samples(living, [*snapshot.counters, *snapshot.gauges])
                else:
                    add_samples(self.ended, snapshot.counters)
                    path.unlink(missing_ok=True)
            add_samples(living, [(name, labels, value) for (name, labels), value in self.ended.items()])
            return living

    def collect(self) -> Iterator[Family]:
        """Yield the metrics as prometheus-client writes them."""
        families = {
            name: Family(name.removesuffix("_total"), metric.description, metric.kind)
            for name, metric in METRICS.items()
        }
        for (name, labels), value in self.add_up().items():
            metric = name if name in METRICS else name.rpartition("_")[0]  # a histogram has three kinds of samples
            names = (*METRICS[metric].labels, "le")
            families[metric].add_sample(name, dict(zip(names, labels, strict=False)), value)
        yield from families.values()

    def run(self) -> None:
        """Take over the figures of ended processes, even if nobody asks for metrics."""
        while True:
            sleep(COLLECT_INTERVAL)
            self.add_up()


def add_samples(totals: Totals, samples: Iterable[Sample]) -> None:
    for name, labels, value in samples:
        totals[name, labels] = totals.get((name, labels), 0) + value


def is_process_alive(snapshot_name: str) -> bool:
    """Return whether the process that writes this file still runs."""
    try:
        process = psutil.Process(int(snapshot_name.partition("-")[0]))
        return process.status() != psutil.STATUS_ZOMBIE and build_snapshot_name(process) == snapshot_name
    except (psutil.Error, ValueError):
        return False


def serve_metrics(address: str) -> None:
    """Serve /metrics at `address`, like `127.0.0.1:9100`, in a thread. Exits with a message if it is not free."""
    folder = OwnedFolder(FOLDER_PREFIX)
    collector = SnapshotCollector(folder.path)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(collector)
    host, _, port = address.rpartition(":")
    try:
        start_http_server(int(port), host.strip("[]") or "0.0.0.0", registry)  # noqa: S104 - as written in the setting
    except OSError as error:
        folder.close()
        raise SystemExit(f"CONTENTAPI_METRICS_BIND: cannot listen on {address}: {error.strerror}.") from None
    os.environ[FOLDER_VARIABLE] = str(folder.path)
    atexit.register(folder.close)
    Thread(target=collector.run, name="metrics", daemon=True).start()
