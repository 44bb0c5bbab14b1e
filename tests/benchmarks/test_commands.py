"""The commands of benchmarks/ start without settings and pytest, and their requests are valid for the schema."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from graphql import parse, validate

from benchmarks import memory
from benchmarks.hostile.documents import EXPENSIVE, Kind, large_response, make_document
from benchmarks.install import python_of
from benchmarks.measure import name_series
from benchmarks.options import read_options
from benchmarks.plan import MAIN
from benchmarks.servers import PEERS_BY_NAME
from benchmarks.workloads import ALL, Dialect, variables
from contentapi.graphql.limits import measure_operations, require_within_limits
from contentapi.schema import SCHEMA
from tests.deployment.processes import ROOT

MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in sorted((ROOT / "benchmarks").rglob("*.py"))
    if "peers" not in path.parts and path.name != "__main__.py"
]
PROGRAMS = [path for path in sorted((ROOT / "benchmarks").glob("*.py")) if "ArgumentParser(" in path.read_text()]
COMMANDS = ["benchmarks", *(f"benchmarks.{path.stem}" for path in PROGRAMS if path.stem != "options")]
COMMANDS += sorted(f"benchmarks.{path.parent.name}" for path in (ROOT / "benchmarks").glob("*/__main__.py"))
IMPORT_ALL = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
print("pytest" in sys.modules)
"""
# In one process: each would import the same packages for a second.
SHOW_HELP = """
import contextlib, io, runpy, sys
for name in sys.argv[1:]:
    sys.argv = [name, "--help"]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        except SystemExit as end:
            status = end.code
    print(name, status, printed.getvalue()[:6])
"""


def run_python(*arguments: str) -> "subprocess.CompletedProcess[str]":
    variables = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)


@pytest.mark.servers
def test_modules_are_imported_without_pytest() -> None:
    done = run_python("-c", IMPORT_ALL, *MODULES)

    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr


@pytest.mark.servers
def test_each_command_shows_its_options() -> None:
    done = run_python("-c", SHOW_HELP, *COMMANDS)

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{command} 0 usage:" for command in COMMANDS]


@pytest.mark.parametrize("workload", ALL)
def test_workload_is_valid_for_the_schema(workload: str) -> None:
    series = name_series("m", 0, MAIN)
    body = json.loads(Dialect().body(workload, variables(workload, random.Random(1), 1), 1, series))  # noqa: S311

    assert validate(SCHEMA, parse(body["query"])) == []


def test_other_requests_are_valid_for_the_schema() -> None:
    for query in (large_response(), *(json.loads(memory.body(number))["query"] for number in range(3))):
        assert validate(SCHEMA, parse(query)) == []


def test_peer_is_this_server_at_a_commit() -> None:
    assert read_options(["--peers", "ours,ours@06a75a9"]).peers == ["ours", "ours@06a75a9"]

    peer = PEERS_BY_NAME["ours@06a75a9"]
    assert (peer.folder.name, peer.database, peer.is_ours) == ("ours@06a75a9", "contentapi_06a75a9", True)
    assert Path(peer.command[0]).parent == python_of("ours@06a75a9")
    with pytest.raises(SystemExit):
        read_options(["--peers", "ours@;"])


@pytest.mark.parametrize("kind", EXPENSIVE)
def test_expensive_document_is_valid_and_within_the_structural_limits(kind: Kind) -> None:
    document = parse(make_document([kind], 7), max_lexical_tokens=2000)

    assert validate(SCHEMA, document) == []
    require_within_limits(measure_operations(document), None)
