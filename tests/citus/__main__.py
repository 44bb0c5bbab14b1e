"""Run tests on a cluster of three nodes: those of this folder, and then those of the API that pass there.

python -m tests.citus                    the tests of this folder, and those of `passing.txt`
python -m tests.citus --short            the tests of this folder
python -m tests.citus tests/blog         some tests of the API, also those that do not pass
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.citus.cluster import find_programs, run_citus
from tests.citus.environment import build_environment

ROOT = Path(__file__).resolve().parents[2]
PASSING = Path(__file__).with_name("passing.txt")
PYTEST = [sys.executable, "-m", "pytest", "-q", "--numprocesses", "0"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.citus", description="Run tests on a cluster of Citus.")
    parser.add_argument("--short", action="store_true", help="leave out the tests of the API")
    parser.add_argument("tests", nargs="*", help="tests of the API (default: those of passing.txt)")
    arguments = parser.parse_args()
    if find_programs() is None:
        sys.stdout.write("Skipped: no PostgreSQL of this host has Citus. See docs/citus.md.\n")
        return 0
    status = 0
    if not arguments.tests:
        status = subprocess.run([*PYTEST, "-m", "citus", "tests/citus"], cwd=ROOT, check=False).returncode
    if not arguments.short:
        status = test_api(arguments.tests or list_passing()) or status
    return status


def test_api(tests: list[str]) -> int:
    """Run tests of the API on a new cluster. Return the exit status of pytest."""
    with tempfile.TemporaryDirectory(prefix="citus-") as folder, run_citus(Path(folder) / "nodes", workers=2) as nodes:
        environment = {**os.environ, **build_environment(nodes[0])}
        distribute(environment)
        options = ["-p", "tests.citus.plugin", "-m", "not servers and not thorough and not citus"]
        return subprocess.run([*PYTEST, *options, *tests], cwd=ROOT, env=environment, check=False).returncode


def distribute(environment: dict[str, str]) -> None:
    manage = [sys.executable, "manage.py"]
    migrate = [*manage, "migrate", "--noinput", "--verbosity", "0"]
    subprocess.run(migrate, cwd=ROOT, env={**environment, "CONTENTAPI_DISTRIBUTED": ""}, check=True)
    command = [*manage, "distribute", "--shards", "8"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)


def list_passing() -> list[str]:
    """Return the files that pass, and the options that leave out the tests that do not."""
    arguments = []
    for line in PASSING.read_text().splitlines():
        name = line.partition("#")[0].strip()
        if name.startswith("-"):
            arguments += ["--deselect", name.removeprefix("-").strip()]
        elif name:
            arguments.append(name)
    return arguments


if __name__ == "__main__":
    sys.exit(main())
