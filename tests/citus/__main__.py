"""Run tests on a cluster of three nodes: those of this folder, and then those of the API that pass there.

python -m tests.citus                    the tests that are known to pass
python -m tests.citus tests/blog         some tests, also those that are not
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.citus.cluster import CitusNode, find_programs, run_citus
from tests.citus.environment import build_environment

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
PYTEST = [sys.executable, "-m", "pytest", "-q", "--numprocesses", "0"]


def main(arguments: list[str]) -> int:
    if find_programs() is None:
        sys.stdout.write("Skipped: no PostgreSQL of this host has Citus. See docs/citus.md.\n")
        return 0
    known = [] if arguments else list_passing()
    status = subprocess.run([*PYTEST, "-m", "citus", "tests/citus"], cwd=ROOT, check=False).returncode if known else 0
    with tempfile.TemporaryDirectory(prefix="citus-") as folder, run_citus(Path(folder) / "nodes", workers=2) as nodes:
        return run_on(nodes[0], arguments or known) or status


def run_on(coordinator: CitusNode, tests: list[str]) -> int:
    """Distribute the database of a cluster, and run tests on it. Return the exit status of pytest."""
    environment = {**os.environ, **build_environment(coordinator)}
    manage = [sys.executable, "manage.py"]
    migrate = [*manage, "migrate", "--noinput", "--verbosity", "0"]
    subprocess.run(migrate, cwd=ROOT, env={**environment, "CONTENTAPI_DISTRIBUTED": ""}, check=True)
    subprocess.run(
        [*manage, "distribute", "--shards", "8"], cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL
    )
    options = ["-p", "tests.citus.plugin", "-m", "not servers and not thorough and not citus"]
    return subprocess.run([*PYTEST, *options, *tests], cwd=ROOT, env=environment, check=False).returncode


def list_passing() -> list[str]:
    """Return the files that pass, and the options that leave out the tests that do not."""
    lines = (HERE / "passing.txt").read_text().splitlines()
    names = [line.partition("#")[0].strip() for line in lines]
    files = [name for name in names if name and not name.startswith("-")]
    return [*files, *(option for name in names if name.startswith("-") for option in ("--deselect", name[1:].strip()))]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
