"""Count what happens in this process: requests, statements, waits. `/metrics` shows the sums over all processes.

Each process of a server writes its figures to a file (`contentapi.monitoring.start`). The process that serves
`/metrics` adds the files up (`contentapi.monitoring.exporter`). Nothing is counted without CONTENTAPI_METRICS_BIND. The
names of the metrics are in `contentapi.monitoring.metrics`.

The values of labels come from the schema, the URL patterns and the code, never from a client, so their number is
bounded.
"""

import os
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain
from threading import Lock

import msgspec
import psutil

from contentapi.monitoring.records import RequestRecord

FOLDER_VARIABLE = "CONTENTAPI_METRICS_FOLDER"  # where the processes of a server write; set by the one that exports
# Upper bounds, seconds
REQUEST_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
STATEMENT_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
MAX_PENDING = 64  # requests that are added to the figures at once
COUNTED_METHODS = frozenset({"GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"})
Labels = tuple[str, ...]
Sample = tuple[str, Labels, float]  # the name of a metric, the values of its labels, its value
RequestKind = tuple[str, str, int]  # operation, method, status
# Kind, time in seconds, bytes of the body, cost, times of the statements in seconds
PendingRequest = tuple[RequestKind, float, int, int, list[float]]


class Snapshot(msgspec.Struct):
    """The figures of a process. Several samples of a metric may have the same labels: they are added up."""

    counters: list[Sample] = []  # the buckets of a histogram too
    gauges: list[Sample] = []  # count only while the process lives


class RequestFigures:
    """The requests of one kind."""

    __slots__ = ("buckets", "cost", "count", "seconds", "size")

    def __init__(self) -> None:
        self.count = 0
        self.buckets = [0] * (len(REQUEST_BUCKETS) + 1)  # of the times
        self.seconds = 0.0
        self.size = 0  # bytes in the bodies of responses
        self.cost = 0

    def list_samples(self, operation: str, method: str, status: int) -> Iterator[Sample]:
        yield "contentapi_requests_total", (operation, method, str(status)), self.count
        yield "contentapi_response_bytes_total", (operation,), self.size
        if self.cost:
            yield "contentapi_cost_total", (operation,), self.cost
        name = "contentapi_request_duration_seconds"
        yield from list_histogram(name, (operation,), REQUEST_BUCKETS, self.buckets, self.seconds)


class Figures:
    """The figures of this process. Thread-safe."""

    def __init__(self) -> None:
        self.is_enabled = False
        self.counter_sources: list[Callable[[], Iterable[Sample]]] = []
        self.gauge_sources: list[Callable[[], Iterable[Sample]]] = []
        self.measured: dict[str, list[Sample]] = {}  # gauges of the last measurement of a job, by its subject
        self.reset()

    def reset(self) -> None:
        """Forget what was counted. After a fork, it belongs to the parent."""
        self.lock = Lock()
        self.pending: deque[PendingRequest] = deque()
        self.counters: dict[tuple[str, Labels], float] = {}
        self.requests: dict[RequestKind, RequestFigures] = {}
        self.statement_buckets = [0] * (len(STATEMENT_BUCKETS) + 1)
        self.statement_seconds = 0.0

    def count(self, name: str, *labels: str, amount: float = 1) -> None:
        """Add an amount to a counter."""
        if self.is_enabled:
            with self.lock:
                self.add(name, labels, amount)

    def add(self, name: str, labels: Labels, amount: float) -> None:
        key = name, labels
        self.counters[key] = self.counters.get(key, 0) + amount

    def observe_request(self, record: RequestRecord, seconds: float) -> None:
        """Count a request that has its response. `seconds` is the time that it took.

        Requests are added to the figures in batches: the code is in the processor's cache then.
        """
        kind = record.operation, record.method, record.status
        self.pending.append((kind, seconds, record.size, record.cost, record.statements))
        if record.waited or record.errors:
            with self.lock:
                self.add_exceptions(record)
        if len(self.pending) >= MAX_PENDING:
            with self.lock:
                self.add_pending()

    def add_pending(self) -> None:
        """Add the requests of a batch to the figures. Call this with the lock."""
        pending, requests, statement_buckets = self.pending, self.requests, self.statement_buckets
        while pending:
            kind, seconds, size, cost, statements = pending.popleft()
            figures = requests.get(kind) or self.get_figures(kind)
            figures.count += 1
            figures.buckets[bisect_left(REQUEST_BUCKETS, seconds)] += 1
            figures.seconds += seconds
            figures.size += size
            figures.cost += cost
            for each in statements:
                statement_buckets[bisect_left(STATEMENT_BUCKETS, each)] += 1
                self.statement_seconds += each

    def get_figures(self, kind: RequestKind) -> RequestFigures:
        """Return the figures of a kind. Requests without an operation share `other`, and so do unknown methods."""
        operation, method, status = kind
        kind = operation or "other", method if method in COUNTED_METHODS else "other", status
        return self.requests.setdefault(kind, RequestFigures())

    def add_exceptions(self, record: RequestRecord) -> None:
        if record.waited:
            self.add("contentapi_slot_waits_total", (), 1)
            self.add("contentapi_slot_wait_seconds_total", (), record.waited)
        for error in record.errors:
            if error.limit:
                self.add("contentapi_limits_reached_total", (error.code, error.limit), 1)

    def take_snapshot(self) -> Snapshot:
        """Return the figures of this moment."""
        with self.lock:
            self.add_pending()
            counters: list[Sample] = [(name, labels, value) for (name, labels), value in self.counters.items()]
            for kind, figures in self.requests.items():
                counters += figures.list_samples(*kind)
            name = "contentapi_statement_duration_seconds"
            counters += list_histogram(name, (), STATEMENT_BUCKETS, self.statement_buckets, self.statement_seconds)
        for source in self.counter_sources:
            counters += source()
        gauges = [sample for source in self.gauge_sources for sample in source()]
        gauges += chain.from_iterable([*self.measured.values()])
        return Snapshot(counters, gauges)


def list_histogram(
    name: str, labels: Labels, bounds: Sequence[float], buckets: Sequence[int], total: float
) -> Iterator[Sample]:
    """Yield a histogram as Prometheus counts it: each bucket includes the smaller ones."""
    counts = [*accumulate(buckets)]
    for bound, count in zip([*map(str, bounds), "+Inf"], counts, strict=True):
        yield f"{name}_bucket", (*labels, bound), count
    yield f"{name}_count", labels, counts[-1]
    yield f"{name}_sum", labels, total


FIGURES = Figures()
os.register_at_fork(after_in_child=FIGURES.reset)


def build_snapshot_name(process: psutil.Process) -> str:
    return f"{process.pid}-{process.create_time():.2f}.json"
