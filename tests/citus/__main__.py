"""Run tests on a cluster of three nodes: those of this folder, and then those of the API.

python -m tests.citus                    the tests of this folder, and those of the API that `make thorough` leaves out
python -m tests.citus --short            the tests of this folder, and a few files of the API
python -m tests.citus --thorough         those that `make thorough` runs
python -m tests.citus tests/blog         some tests of the API, also those of exceptions.txt
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.citus.cluster import find_programs
from tests.citus.databases import run_databases
from tests.deployment.processes import ROOT

EXCEPTIONS = Path(__file__).with_name("exceptions.txt")
PACKAGES = ("events", "graphql", "http", "media", "projection", "rest", "streams")
AREAS = (
    *(f"tests/{folder}" for folder in ("behaviour", "blog", "contract", "e2e", "orders", "users")),
    *(f"tests/contentapi/{package}" for package in PACKAGES),
)
FEW = (
    "tests/behaviour/test_graphql_idempotency.py",
    "tests/contentapi/events/test_types.py",
    "tests/contentapi/server/test_smoke.py",
    *(f"tests/blog/test_{name}.py" for name in ("comments", "history", "images", "search")),
)
PYTEST = [sys.executable, "-m", "pytest", "-q", "--hypothesis-profile", "ci"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.citus", description="Run tests on a cluster of Citus.")
    parser.add_argument("--short", action="store_true", help="run a few tests of the API")
    parser.add_argument("--thorough", action="store_true", help="run the long tests of the API, with browsers")
    parser.add_argument("tests", nargs="*", help="tests of the API (default: those of all its areas)")
    arguments = parser.parse_args()
    if find_programs() is None:
        sys.stdout.write("Skipped: no PostgreSQL of this host has Citus. See docs/operations/cluster.md.\n")
        return 0
    status = 0
    if not arguments.tests and not arguments.thorough:
        command = [*PYTEST, "--numprocesses", "0", "-m", "citus", "tests/citus"]
        status = subprocess.run(command, cwd=ROOT, check=False).returncode
    tests = arguments.tests or [*(FEW if arguments.short else AREAS), *list_exceptions()]
    return test_api(tests, is_thorough=arguments.thorough) or status


def test_api(tests: list[str], *, is_thorough: bool) -> int:
    """Run tests of the API on a new cluster, in a process for each core or more. Return the exit status of pytest."""
    processes = os.cpu_count() or 1
    if not is_thorough:
        processes = max(2, processes * 3 // 2)  # as with `make test-servers`: some wait for their servers
    names = [f"tests_gw{number}" for number in range(processes)]
    with tempfile.TemporaryDirectory(prefix="citus-") as folder, run_databases(Path(folder), names) as variables:
        selected = "thorough and not citus" if is_thorough else "not thorough and not citus"
        options = ["--numprocesses", str(processes), "--dist", "worksteal", "-m", selected]
        environment = {**os.environ, **variables, "PYTEST_PLUGINS": "tests.citus.plugin"}
        return subprocess.run([*PYTEST, *options, *tests], cwd=ROOT, env=environment, check=False).returncode


def list_exceptions() -> list[str]:
    """Return the options of pytest that leave out the exceptions."""
    lines = [line.strip() for line in EXCEPTIONS.read_text().splitlines()]
    return [word for line in lines if line and not line.startswith("#") for word in ("--deselect", line)]


if __name__ == "__main__":
    sys.exit(main())
