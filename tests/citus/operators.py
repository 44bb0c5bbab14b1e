"""Commands of operators on a cluster."""

import os
import subprocess
import sys

from tests.citus.cluster import DATABASE, CitusNode
from tests.citus.environment import build_environment
from tests.deployment.postgresql import PostgresServer
from tests.deployment.processes import ROOT

DISTRIBUTE = ("distribute", "--shards", "4")


def build_variables(node: PostgresServer, database: str = DATABASE, **variables: str) -> dict[str, str]:
    return {**os.environ, **build_environment(node, database), **variables}


def run(
    node: PostgresServer, *command: str, database: str = DATABASE, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run Python with this command on a node. `variables` replace those of its environment."""
    environment = build_variables(node, database, **variables)
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def manage(node: PostgresServer, *arguments: str, database: str = DATABASE, **variables: str) -> str:
    """Run a command of an operator. Returns its standard output."""
    done = run(node, "manage.py", *arguments, database=database, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


def count_distributed_tables(node: CitusNode) -> int:
    return int(node.execute("SELECT count(*) FROM pg_dist_partition WHERE partmethod IN ('h', 'n')")[0][0])
