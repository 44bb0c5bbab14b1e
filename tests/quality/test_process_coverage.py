"""A process that a test starts leaves the coverage of itself and of its forks."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from coverage import CoverageData

from tests.quality.configuration import ROOT, read_table
from tests.quality.in_processes.untraced_imports import MEASURED
from tests.quality.process_coverage import VARIABLES

COMMAND = """
import os, signal
import contentapi.core.identity
if os.fork():
    os.wait()
    {end}
else:
    import contentapi.core.pagination
    os._exit(0)
"""

IMPORTS = """
from gunicorn.app.base import Application
import contentapi.wsgi
Application.get_config_from_filename(None, "contentapi/server/gunicorn_conf.py")  # which has a name of its own
"""
SAME = {  # what a process would otherwise choose, or write when it is the first one
    "PYTHONHASHSEED": "0",
    "DATABASE_URL": "postgresql://app:secret@db.invalid/app",
    "SECRET_KEY": "a sample of more than fifty characters, which is long enough",
    "JWT_SECRET": "a sample of more than thirty-two bytes",
}


@pytest.mark.servers
@pytest.mark.parametrize("end", ["pass", "os._exit(0)", "os.kill(os.getpid(), signal.SIGTERM)"])
def test_processes_and_their_forks_are_measured(tmp_path: Path, end: str) -> None:
    variables = {**os.environ, **VARIABLES, "COVERAGE_FILE": str(tmp_path / "data")}

    subprocess.run([sys.executable, "-c", COMMAND.format(end=end)], cwd=ROOT, env=variables, check=False, timeout=60)

    expected = {str(ROOT / "contentapi/core" / name) for name in ("identity.py", "pagination.py")}
    assert expected <= read_arcs(tmp_path).keys()


@pytest.mark.servers
def test_untraced_imports_change_nothing_that_is_measured(tmp_path: Path) -> None:
    plain = tmp_path / "plain.toml"
    text = Path(VARIABLES["COVERAGE_PROCESS_START"]).read_text()
    plain.write_text("".join(line for line in text.splitlines(keepends=True) if not line.startswith("plugins")))
    found = []
    for name, configuration in {"with": VARIABLES["COVERAGE_PROCESS_START"], "without": str(plain)}.items():
        (tmp_path / name).mkdir()
        files = {"COVERAGE_PROCESS_START": configuration, "COVERAGE_FILE": str(tmp_path / name / "data")}
        variables = {**os.environ, **VARIABLES, **files, **SAME}
        subprocess.run([sys.executable, "-c", IMPORTS], cwd=ROOT, env=variables, check=True, timeout=60)
        found.append(read_arcs(tmp_path / name))

    assert found[0] == found[1]
    assert str(ROOT / "contentapi/server/gunicorn_conf.py") in found[0]
    assert len(found[0]) > 100


def read_arcs(folder: Path) -> dict[str, set[tuple[int, int]]]:
    """Return the executed arcs of each file, added up over the data files in a folder."""
    arcs: dict[str, set[tuple[int, int]]] = {}
    for file in folder.iterdir():
        data = CoverageData(str(file))
        data.read()
        for measured in data.measured_files():
            arcs.setdefault(measured, set()).update(data.arcs(measured) or ())
    return arcs


def test_untraced_imports_trace_what_is_measured() -> None:
    assert [Path(folder).name for folder in MEASURED] == read_table("coverage", "run")["source"]


def test_processes_are_measured_as_the_tests_are() -> None:
    in_tests = read_table("coverage", "run")
    in_processes = tomllib.loads(Path(VARIABLES["COVERAGE_PROCESS_START"]).read_text())["tool"]["coverage"]["run"]

    assert in_tests.items() <= in_processes.items()
