"""The databases of a cluster: a distributed one, and its copies. A copy is one on each node.

A copy takes a second; to migrate and to distribute an empty database takes a minute.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from tests.citus.cluster import CitusNode, run_citus
from tests.citus.operators import build_environment, manage
from tests.deployment.postgresql import PostgresServer
from tests.deployment.template import LOAD_DEMO

PORTS = "CITUS_PORTS"  # those of the nodes, for the processes of the tests
DISTRIBUTED, DEMO = "contentapi", "demo"
PREPARE_PARTITIONS = "from contentapi.events.partitions import prepare_partitions; prepare_partitions()"
NUMBERS = count(1)


def copy_database(nodes: Sequence[CitusNode], source: str, name: str) -> None:
    """Copy a database that nobody uses."""
    execute_on_each(nodes, f"CREATE DATABASE {name} TEMPLATE {source}")


def drop_database(nodes: Sequence[CitusNode], name: str) -> None:
    execute_on_each(nodes, f"DROP DATABASE {name} WITH (FORCE)")


def execute_on_each(nodes: Sequence[CitusNode], sql: str) -> None:
    with ThreadPoolExecutor(len(nodes)) as pool:
        list(pool.map(lambda node: node.execute(sql, database="postgres"), nodes))


@contextmanager
def run_databases(folder: Path, names: Sequence[str]) -> Iterator[dict[str, str]]:
    """Run a cluster of three with databases without content, and one with the demo. Yield the variables of tests."""
    with run_citus(folder / "nodes", workers=2) as nodes:
        var = folder / "template" / "var"
        manage(nodes[0], "migrate", "--noinput", "--verbosity", "0", CONTENTAPI_DISTRIBUTED="")
        manage(nodes[0], "distribute", "--shards", "4")
        manage(nodes[0], "shell", "--verbosity", "0", "-c", PREPARE_PARTITIONS)
        leave_databases(nodes)
        for name in [*names, DEMO]:
            copy_database(nodes, DISTRIBUTED, name)
        manage(nodes[0], "shell", "--verbosity", "0", "-c", LOAD_DEMO, database=DEMO, CONTENTAPI_VAR=str(var))
        leave_databases(nodes)
        ports = ",".join(str(node.port) for node in nodes)
        yield {**build_environment(nodes[0]), PORTS: ports, "TESTS_TEMPLATE": str(var)}


def leave_databases(nodes: Sequence[CitusNode]) -> None:
    """Restart the nodes. Until the next session in a database, the process that Citus runs in each does not use it."""
    for node in nodes:
        node.stop()
        node.start()


def find_nodes() -> list[CitusNode]:
    """Return the nodes of the cluster that runs. The first one is the coordinator."""
    nodes = []
    for port in os.environ[PORTS].split(","):
        nodes.append(CitusNode(Path()))
        nodes[-1].port = int(port)
    return nodes


class DemoCopy(PostgresServer):
    """A copy of the demo on the cluster, for tests that ask for a server of their own. The cluster runs already."""

    def __init__(self) -> None:
        self.nodes = find_nodes()
        self.name = f"copy_{os.getpid()}_{next(NUMBERS)}"
        super().__init__(Path(), port=self.nodes[0].port)
        copy_database(self.nodes, DEMO, self.name)

    def build_url(self, database: str = "") -> str:  # noqa: ARG002 - there is one
        return super().build_url(self.name)

    def start(self) -> None:
        pass

    def remove(self) -> None:
        drop_database(self.nodes, self.name)
