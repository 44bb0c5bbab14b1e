"""A cluster of Citus for tests: a coordinator and its workers, each a PostgreSQL server of this host.

Citus is an extension of the host's PostgreSQL. The embedded PostgreSQL of a checkout does not have it.
"""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tests.deployment.postgresql import PostgresServer

CANDIDATES = "/usr/lib/postgresql/*/bin/pg_config"
DATABASE = "contentapi"
# Connections of the nodes to each other need no certificate here.
CITUS_SETTINGS = {
    "shared_preload_libraries": "citus",
    "citus.node_conninfo": "sslmode=prefer",
    "max_connections": "200",
    "max_worker_processes": "64",  # Citus has one for each database
    "shared_buffers": "64MB",
    "jit": "off",
}


@cache
def find_programs() -> Path | None:
    """Return the folder of the programs of a PostgreSQL that has Citus, or None if there is none on this host."""
    found = [str(path) for path in sorted(Path("/").glob(CANDIDATES.lstrip("/")), reverse=True)]
    for config in [*filter(None, [shutil.which("pg_config")]), *found]:
        shared = read_config(config, "--sharedir")
        if Path(shared, "extension", "citus.control").exists():
            return Path(read_config(config, "--bindir"))
    return None


def read_config(config: str, option: str) -> str:
    return subprocess.run([config, option], check=True, capture_output=True, text=True).stdout.strip()


class CitusNode(PostgresServer):
    """A node of a cluster: the coordinator or a worker. Its database has the extension."""

    locale = ("--encoding=UTF8", "--locale=C.UTF-8")

    def __init__(self, folder: Path, port: int | None = None, /, **settings: str) -> None:
        super().__init__(folder, port=port, settings={**CITUS_SETTINGS, **settings})

    @property
    def programs(self) -> Path:  # type: ignore[override]
        programs = find_programs()
        assert programs is not None, "Citus is not installed."
        return programs

    def add_worker(self, worker: "CitusNode", database: str = DATABASE) -> None:
        """Add a worker to the cluster of which this node is the coordinator."""
        self.execute(f"SELECT citus_add_node('127.0.0.1', {worker.port})", database=database)


def join_nodes(nodes: Sequence[CitusNode], database: str = DATABASE) -> None:
    """Make a database of each node one of a cluster, whose first node is the coordinator."""
    for node in nodes:
        node.execute("CREATE EXTENSION citus", database=database)
    coordinator, *workers = nodes
    coordinator.execute(f"SELECT citus_set_coordinator_host('127.0.0.1', {coordinator.port})", database=database)
    for worker in workers:
        coordinator.add_worker(worker, database)


@contextmanager
def run_citus(folder: Path, *, workers: int, is_joined: bool = True) -> Iterator[list[CitusNode]]:
    """Run a coordinator and its workers, in this order, and remove them at the end. No table is distributed.

    Without `is_joined`, they are PostgreSQL servers that do not know each other.
    """
    nodes: list[CitusNode] = []
    try:
        for name in ("coordinator", *(f"worker{number}" for number in range(1, workers + 1))):
            nodes.append(CitusNode(folder / name))
            nodes[-1].create()
        if is_joined:
            join_nodes(nodes)
        yield nodes
    finally:
        for node in reversed(nodes):
            node.remove()
