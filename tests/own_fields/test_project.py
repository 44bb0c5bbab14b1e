"""The tests of a project with own fields pass, in a process with its settings."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).parent / "cases"
ROOT = CASES.parents[2]


def test_cases_pass_in_a_project_with_own_fields(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    options = ["--ds=tests.own_fields.settings", "-p", "no:xdist", "-p", "no:cacheprovider", "-q"]
    environment = {**os.environ, "OWN_FIELDS_FOLDER": str(tmp_path)}
    if pytestconfig.getoption("cov_source"):  # the lines count too: the process that measures combines the files
        options += ["--cov", "--cov-report=", "--cov-fail-under=0"]
        environment["COVERAGE_FILE"] = str(ROOT / ".coverage.own_fields")
    environment.pop("CONTENTAPI_PROCESS", None)  # contentapi.wsgi sets it, which another test may have imported
    command = [sys.executable, "-m", "pytest", *options, str(CASES)]

    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
