"""Commands of operators on a cluster, and the environment variables of processes that use it."""

import os
import subprocess
import sys
from pathlib import Path

from tests.citus.cluster import DATABASE, CitusNode
from tests.deployment.postgresql import PostgresServer
from tests.deployment.processes import ROOT, run_program

KEY = "a key of the tests that is long enough for a deployment 0123456789"
DISTRIBUTE = ("distribute", "--shards", "4")


def build_environment(
    coordinator: PostgresServer, database: str = "contentapi", var: Path | None = None
) -> dict[str, str]:
    """Return the variables of processes that use a database. Its files are in `var`, by default beside the nodes."""
    return {
        "DATABASE_URL": coordinator.build_url(database),
        "CONTENTAPI_DISTRIBUTED": "citus",
        "CONTENTAPI_VAR": str(var or Path(coordinator.folder).parent / "var"),
        "SECRET_KEY": KEY,
        "JWT_SECRET": KEY,
        "DJANGO_SETTINGS_MODULE": "contentapi.settings",
    }


def build_variables(node: PostgresServer, database: str = DATABASE, **variables: str) -> dict[str, str]:
    return {**os.environ, **build_environment(node, database), **variables}


def run(
    node: PostgresServer, *command: str, database: str = DATABASE, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run Python with this command on a node. `variables` replace those of its environment."""
    environment = build_variables(node, database, **variables)
    return run_program(sys.executable, *command, cwd=ROOT, env=environment, timeout=None)


def manage(node: PostgresServer, *arguments: str, database: str = DATABASE, **variables: str) -> str:
    """Run a command of an operator. Returns its standard output."""
    done = run(node, "manage.py", *arguments, database=database, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


def count_distributed_tables(node: CitusNode) -> int:
    return int(node.execute("SELECT count(*) FROM pg_dist_partition WHERE partmethod IN ('h', 'n')")[0][0])
