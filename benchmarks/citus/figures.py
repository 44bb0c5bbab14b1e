"""What a request costs on one PostgreSQL, and after the move to Citus with one, two and four workers."""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

from benchmarks.citus.cluster import COORDINATOR, HOSTS, Cluster
from benchmarks.citus.content import load
from benchmarks.citus.kinds import Requester

ROUNDS = 5
WARM_UP = 20  # requests of each kind
# No background work, and one connection to each worker, so that waits of a busy machine open no more of them
SETTINGS = {
    "autovacuum": "off",
    "citus.max_adaptive_executor_pool_size": "1",
    "citus.distributed_deadlock_detection_factor": "-1",
    "shared_buffers": "1GB",
}


@dataclass(frozen=True, slots=True)
class Cost:
    """What a request of one kind costs. Processor times are in milliseconds, medians of the rounds."""

    kind: str
    hosts: float
    coordinator: float
    workers: float  # of all workers together
    round_trips: float  # statements of a host
    statements: float  # of the coordinator on workers

    @property
    def postgres(self) -> float:
        return self.coordinator + self.workers


@dataclass
class Stage:
    """A state of the database. Times are in seconds."""

    name: str
    workers: int
    costs: dict[str, Cost] = field(default_factory=dict)
    moved_in: float = 0.0  # by `distribute` or by moves of shards


def measure_stages(posts: int, workers: Sequence[int], shards: int, requests: int) -> list[Stage]:
    """Load one PostgreSQL, measure, move it to Citus, and measure with each number of workers, in ascending order."""
    cluster = Cluster(**SETTINGS)
    try:
        cluster.create_content_database()
        print(f"Loaded in {load(cluster.coordinator, posts):.0f} s.", file=sys.stderr, flush=True)
        stages = [Stage("one PostgreSQL", 0)]
        stages[0].costs = measure(cluster, posts, requests)
        cluster.become_coordinator()
        for number in workers:
            began = time.monotonic()
            while len(cluster.nodes) <= number:
                cluster.add_worker()
            cluster.distribute(shards)
            cluster.rebalance()
            stage = Stage(f"{number} workers" if number > 1 else "1 worker", number)
            stage.moved_in = time.monotonic() - began
            print(f"{stage.name} after {stage.moved_in:.0f} s: {cluster.count_shards()}", file=sys.stderr, flush=True)
            for node in cluster.nodes.values():
                node.execute("VACUUM (ANALYZE)")
            stage.costs = measure(cluster, posts, requests)
            stages.append(stage)
        return stages
    finally:
        cluster.close()


def measure(cluster: Cluster, posts: int, requests: int) -> dict[str, Cost]:
    """Return the costs of each kind of request, of this number in a round, by the name of the kind."""
    cluster.start_hosts(HOSTS[:1])
    try:
        requester = Requester(cluster.hosts[HOSTS[0]], cluster.key, posts)
        kinds = dict(requester.list_kinds())
        for send in kinds.values():
            for _ in range(WARM_UP):
                send()
        found: dict[str, list[Cost]] = {kind: [] for kind in kinds}
        for _ in range(ROUNDS):
            for kind, send in kinds.items():
                found[kind].append(measure_kind(cluster, kind, send, requests))
    finally:
        cluster.stop_hosts()
    return {kind: find_median(costs) for kind, costs in found.items()}


def measure_kind(cluster: Cluster, kind: str, send: Callable[[], None], requests: int) -> Cost:
    statements, cpu = cluster.count_statements(), cluster.read_cpu()
    for _ in range(requests):
        send()
    spent = {name: (value - cpu[name]) * 1000 / requests for name, value in cluster.read_cpu().items()}
    counted = {name: (value - statements[name]) / requests for name, value in cluster.count_statements().items()}
    workers = [name for name in cluster.nodes if name != COORDINATOR]
    return Cost(
        kind,
        hosts=spent["hosts"],
        coordinator=spent[COORDINATOR],
        workers=sum(spent[name] for name in workers),
        round_trips=counted[COORDINATOR],
        statements=sum(counted[name] for name in workers),
    )


def find_median(costs: Sequence[Cost]) -> Cost:
    names = ("hosts", "coordinator", "workers", "round_trips", "statements")
    return Cost(costs[0].kind, *(median(getattr(cost, name) for cost in costs) for name in names))
