"""The cluster of the tests of this folder."""

import subprocess
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.citus.cluster import CitusNode, join_nodes, run_citus
from tests.citus.operators import DISTRIBUTE, count_distributed_tables, manage, run


class Distribution(NamedTuple):
    """What happened when the database of a coordinator was distributed, with an interruption."""

    nodes: list[CitusNode]
    coordinator: CitusNode
    worker: CitusNode
    plan: str
    tables_after_plan: int
    interrupted: subprocess.CompletedProcess[str]
    left: str


@pytest.fixture(scope="session")
def distribution(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Distribution]:
    """A database that becomes a cluster of three.

    One step in the middle of the first run fails: a view needs the key that it drops.
    """
    with run_citus(tmp_path_factory.mktemp("nodes"), workers=2, is_joined=False) as nodes:
        manage(nodes[0], "migrate", "--noinput", CONTENTAPI_DISTRIBUTED="")
        manage(nodes[0], "load_demo", CONTENTAPI_DISTRIBUTED="")
        join_nodes(nodes)
        plan = manage(nodes[0], *DISTRIBUTE, "--plan")
        tables = count_distributed_tables(nodes[0])
        nodes[0].execute("CREATE VIEW hindrance AS SELECT id, body FROM blog_comment GROUP BY id")
        interrupted = run(nodes[0], "manage.py", *DISTRIBUTE)
        nodes[0].execute("DROP VIEW hindrance")
        yield Distribution(nodes, nodes[0], nodes[2], plan, tables, interrupted, manage(nodes[0], *DISTRIBUTE))


@pytest.fixture
def coordinator(distribution: Distribution) -> CitusNode:
    return distribution.coordinator
