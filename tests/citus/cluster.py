"""A cluster of Citus for tests: a coordinator and its workers, each a PostgreSQL server of this host.

Citus is an extension of the host's PostgreSQL. The embedded PostgreSQL of a checkout does not have it.
"""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tests.postgresql_cluster import PostgresServer

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

    def create_node(self) -> "CitusNode":
        self.create()
        self.execute("CREATE EXTENSION citus")
        return self

    def add_worker(self, worker: "CitusNode") -> None:
        """Add a worker to the cluster of which this node is the coordinator."""
        self.execute(f"SELECT citus_add_node('127.0.0.1', {worker.port})")


@contextmanager
def run_citus(folder: Path, *, workers: int) -> Iterator[list[CitusNode]]:
    """Run a coordinator and its workers, in this order, and remove them at the end. No table is distributed."""
    nodes: list[CitusNode] = []
    try:
        for name in ("coordinator", *(f"worker{number}" for number in range(1, workers + 1))):
            nodes.append(CitusNode(folder / name))
            nodes[-1].create_node()
        coordinator, *others = nodes
        coordinator.execute(f"SELECT citus_set_coordinator_host('127.0.0.1', {coordinator.port})")
        for worker in others:
            coordinator.add_worker(worker)
        yield nodes
    finally:
        for node in reversed(nodes):
            node.remove()
