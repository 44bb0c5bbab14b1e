"""What larger clusters carry, computed from the costs of requests. This is arithmetic, not an observation."""

from collections.abc import Sequence

from benchmarks.citus.figures import Cost, Stage

CORES = 32  # of each server
BUSY = 0.6  # of them, so that a peak or a lost server has room
SERVERS = (8, 32, 128)
POSTS_OF_SERVER = 300_000_000  # 6.6 TB with comments and history, at 22 kB: see docs/scaling.md
HEADER = """
| Workers | Posts | Request | On one coordinator /s | On the workers /s | From every node /s | Ends at |
|---|---|---|---|---|---|---|"""


def print_capacity(stages: Sequence[Stage], posts: int, shards: int) -> None:
    """Print how many requests of each kind clusters carry, with as many shards for each worker as were measured."""
    last = stages[-1]
    print(f"\nComputed from {last.name}, {shards} shards {posts:,} posts; {CORES} cores, {BUSY:.0%} busy.")
    print(HEADER)
    for servers in SERVERS:
        for kind, cost in last.costs.items():
            scaled = scale(cost, max(servers, shards) / shards)
            coordinator, workers, everywhere = count_requests(scaled, servers)
            end = "coordinator" if coordinator < workers else "workers"
            values = [f"{value:,.0f}" for value in (coordinator, workers, everywhere)]
            print(f"| {servers} | {servers * POSTS_OF_SERVER:,} | {kind} | {' | '.join(values)} | {end} |")


def scale(cost: Cost, growth: float) -> Cost:
    """Return the cost with more shards. A request that asks each shard grows with them; others do not."""
    if cost.statements < 2 * cost.round_trips + 4:
        growth = 1
    return Cost(
        cost.kind,
        cost.hosts,
        cost.coordinator * growth,
        cost.workers * growth,
        cost.round_trips,
        cost.statements * growth,
    )


def count_requests(cost: Cost, servers: int) -> tuple[float, float, float]:
    """Return requests per second: of the coordinator, of the workers, and of all nodes with both parts."""
    milliseconds = CORES * BUSY * 1000
    coordinator = milliseconds / cost.coordinator
    workers = servers * milliseconds / max(cost.workers, 0.001)
    return coordinator, workers, servers * milliseconds / cost.postgres
