"""What a request costs on one PostgreSQL, and after the move to Citus with one, two and four workers."""

import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

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
    moved_in: float = 0.0  # how long the content was loaded or moved


def measure_stages(
    posts: int, workers: Sequence[int], shards: int, requests: int, folder: Path | None = None
) -> list[Stage]:
    """Load one PostgreSQL, measure, move it to Citus, and measure with each number of workers, in ascending order.

    A stage of an earlier run in the folder is not repeated. Without `requests`, the last one is left to be measured.
    """
    cluster = Cluster(folder, **SETTINGS)
    try:
        stages = [restore_stage(**saved) for saved in cluster.restart() or ()]
        for place, number in enumerate((0, *workers)):
            if place == len(stages):
                stages.append(move(cluster, number, shards) if number else begin(cluster, posts))
                cluster.save([asdict(stage) for stage in stages])
            if not requests:
                break
            if not stages[place].costs:
                stages[place].costs = measure(cluster, posts, requests)
                cluster.save([asdict(stage) for stage in stages])
        return stages
    finally:
        cluster.close()


def restore_stage(costs: dict[str, dict[str, Any]], **fields: Any) -> Stage:
    return Stage(costs={kind: Cost(**cost) for kind, cost in costs.items()}, **fields)


def begin(cluster: Cluster, posts: int) -> Stage:
    """Start one PostgreSQL with the content."""
    cluster.create_content_database()
    return Stage("one PostgreSQL", 0, moved_in=load(cluster.coordinator, posts))


def move(cluster: Cluster, workers: int, shards: int) -> Stage:
    """Move the content to a number of workers. The first time, one PostgreSQL becomes the coordinator."""
    if not cluster.is_distributed:
        cluster.become_coordinator()
    while len(cluster.nodes) <= workers:
        cluster.add_worker()
    stage, began = Stage(f"{workers} workers" if workers > 1 else "1 worker", workers), time.monotonic()
    cluster.distribute(shards)
    cluster.rebalance()
    stage.moved_in = time.monotonic() - began
    print(f"{stage.name} after {stage.moved_in:.0f} s: {cluster.count_shards()}", file=sys.stderr, flush=True)
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda node: node.execute("VACUUM (ANALYZE)"), cluster.nodes.values()))
    return stage


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
