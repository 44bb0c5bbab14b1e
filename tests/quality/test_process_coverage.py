"""A process that a test starts leaves the coverage of itself and of its forks."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.quality.configuration import ROOT, read_table
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


@pytest.mark.servers
@pytest.mark.parametrize("end", ["pass", "os._exit(0)", "os.kill(os.getpid(), signal.SIGTERM)"])
def test_processes_and_their_forks_are_measured(tmp_path: Path, end: str) -> None:
    variables = {**os.environ, **VARIABLES, "COVERAGE_FILE": str(tmp_path / "data")}

    subprocess.run([sys.executable, "-c", COMMAND.format(end=end)], cwd=ROOT, env=variables, check=False, timeout=60)

    expected = {str(ROOT / "contentapi/core" / name) for name in ("identity.py", "pagination.py")}
    assert expected <= list_measured_files(tmp_path)


def list_measured_files(folder: Path) -> set[str]:
    """Return the files with executed lines, added up over the data files in a folder."""
    from coverage import CoverageData  # the processes of `make test` need not import it

    files: set[str] = set()
    for file in folder.iterdir():
        data = CoverageData(str(file))
        data.read()
        files |= {measured for measured in data.measured_files() if data.lines(measured)}
    return files


def test_processes_are_measured_as_the_tests_are() -> None:
    in_tests = read_table("coverage", "run")
    in_processes = tomllib.loads(Path(VARIABLES["COVERAGE_PROCESS_START"]).read_text())["tool"]["coverage"]["run"]

    assert in_tests.items() <= in_processes.items()
