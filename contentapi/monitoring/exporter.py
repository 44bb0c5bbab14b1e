"""Serve /metrics at CONTENTAPI_METRICS_BIND: the sum of the figures of all processes of this server.

The first process of a server (`manage.py serve`, or the master of granian or gunicorn) exports; all of its processes
write their figures into a folder. The address is a separate one, so that no client of the API can reach it.
"""

import atexit
import os
from collections.abc import Iterator
from pathlib import Path
from threading import Lock, Thread
from time import sleep

import msgspec
import psutil
from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from contentapi.conf.timeouts import COLLECT_INTERVAL
from contentapi.monitoring.figures import FOLDER_VARIABLE, HistogramState, Labels, Snapshot, build_snapshot_name
from contentapi.monitoring.metrics import METRICS
from contentapi.monitoring.owned_folder import OwnedFolder

FOLDER_PREFIX = "contentapi-metrics-"
SNAPSHOT = msgspec.json.Decoder(Snapshot)


class Totals:
    """The sums over snapshots."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, Labels], float] = {}
        self.histograms: dict[tuple[str, Labels], HistogramState] = {}

    def add(self, snapshot: Snapshot, *, is_alive: bool) -> None:
        for name, labels, value in [*snapshot.counters, *(snapshot.gauges if is_alive else ())]:
            self.values[name, labels] = self.values.get((name, labels), 0) + value
        for name, labels, state in snapshot.histograms:
            known = self.histograms.setdefault((name, labels), HistogramState([0] * len(state.buckets)))
            known.add(state)

    def copy(self) -> "Totals":
        totals = Totals()
        totals.values = dict(self.values)
        totals.histograms = {
            key: HistogramState([*state.buckets], state.total) for key, state in self.histograms.items()
        }
        return totals


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
            living = []
            for path in sorted(self.folder.glob("*.json")):
                is_alive = is_process_alive(path.name)  # before the file is read: it has written its last figures
                try:
                    snapshot = SNAPSHOT.decode(path.read_bytes())
                except (OSError, msgspec.DecodeError):
                    continue
                if is_alive:
                    living.append(snapshot)
                else:
                    self.ended.add(snapshot, is_alive=False)
                    path.unlink(missing_ok=True)
            totals = self.ended.copy()
            for snapshot in living:
                totals.add(snapshot, is_alive=True)
            return totals

    def collect(self) -> Iterator[Family]:
        """Yield the metrics as prometheus-client writes them."""
        totals = self.add_up()
        for name, metric in METRICS.items():
            if metric.kind == "histogram":
                histogram = HistogramMetricFamily(name, metric.description, labels=metric.labels)
                for (found, labels), state in sorted(totals.histograms.items(), key=lambda item: item[0]):
                    if found == name:
                        histogram.add_metric(labels, build_cumulative_buckets(metric.buckets, state), state.total)
                yield histogram
                continue
            family = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
            values = family(name, metric.description, labels=metric.labels)
            for (found, labels), value in sorted(totals.values.items()):
                if found == name:
                    values.add_metric(labels, value)
            yield values

    def run(self) -> None:
        """Take over the figures of ended processes, even if nobody asks for metrics."""
        while True:
            sleep(COLLECT_INTERVAL)
            self.add_up()


def build_cumulative_buckets(bounds: tuple[float, ...], state: HistogramState) -> list[tuple[str, float]]:
    """Return the buckets as Prometheus counts them: each includes the smaller ones."""
    names = [*(str(bound) for bound in bounds), "+Inf"]
    return [(name, sum(state.buckets[: index + 1])) for index, name in enumerate(names)]


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
        folder.remove()
        raise SystemExit(f"CONTENTAPI_METRICS_BIND: cannot listen on {address}: {error.strerror}.") from None
    os.environ[FOLDER_VARIABLE] = str(folder.path)
    atexit.register(folder.remove)
    Thread(target=collector.run, name="metrics", daemon=True).start()
