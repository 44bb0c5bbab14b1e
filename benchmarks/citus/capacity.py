"""What larger clusters carry, computed from the costs of requests. This is arithmetic, not an observation.

Lists are taken to cost as much for each shard as now. The coordinator spends less: see docs/operations/cluster.md.
"""

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.citus.figures import Cost, Stage
from benchmarks.citus.kinds import LISTS

CORES = 32  # of each server
BUSY = 0.6  # of them, so that a peak or a lost server has room
SERVERS = (8, 32, 128)
POSTS_OF_SERVER = 300_000_000  # 6.6 TB with comments and history, at 22 kB: see docs/operations/cluster.md
HEADER = """
| Workers | Posts | Request | On one coordinator /s | On the workers /s | From every node /s | Ends at |
|---|---|---|---|---|---|---|"""


def print_capacity(stages: Sequence[Stage], posts: int, shards: int) -> None:
    """Print how many requests of each kind larger clusters carry, which have a shard for each worker at least."""
    last = stages[-1]
    print(f"\nComputed from {last.name}, {shards} shards and {posts:,} posts; {CORES} cores, {BUSY:.0%} of them busy.")
    print(HEADER)
    for servers in SERVERS:
        for kind, cost in last.costs.items():
            rates = count_requests(scale(cost, max(servers / shards, 1)), servers)
            end = "coordinator" if rates[0] < rates[1] else "workers"
            values = " | ".join(f"{value:,.0f}" for value in rates)
            print(f"| {servers} | {servers * POSTS_OF_SERVER:,} | {kind} | {values} | {end} |")


def scale(cost: Cost, growth: float) -> Cost:
    """Return the cost with more shards. A request that asks each of the shards grows with them; others do not."""
    if cost.kind not in LISTS:
        return cost
    return replace(
        cost,
        coordinator=cost.coordinator * growth,
        workers=cost.workers * growth,
        statements=cost.statements * growth,
    )


def count_requests(cost: Cost, servers: int) -> tuple[float, float, float]:
    """Return requests per second: of the coordinator, of the workers, and of all nodes if each has both parts."""
    milliseconds = CORES * BUSY * 1000
    workers = servers * milliseconds / cost.workers
    return milliseconds / cost.coordinator, workers, servers * milliseconds / cost.postgres
