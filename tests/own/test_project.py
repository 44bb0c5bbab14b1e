"""The tests of a project with own fields and an own type pass, in a process with its settings."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).parent / "cases"
ROOT = CASES.parents[2]


@pytest.mark.servers
@pytest.mark.own
@pytest.mark.usefixtures("django_db_modify_db_settings")  # which makes the database that all processes copy
def test_cases_pass_in_a_project_with_own_fields_and_an_own_type(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    options = ["--ds=tests.own.settings", "-p", "no:xdist", "-p", "no:cacheprovider", "-q"]
    environment = {**os.environ, "OWN_PROJECT": str(tmp_path), "DJANGO_SETTINGS_MODULE": "tests.own.settings"}
    if pytestconfig.getoption("cov_source"):  # the lines count too: the process that measures combines the files
        options += ["--cov", "--cov-report=", "--cov-fail-under=0"]
        environment["COVERAGE_FILE"] = str(ROOT / ".coverage.own")
    environment.pop("CONTENTAPI_PROCESS", None)  # contentapi.wsgi sets it, which another test may have imported

    for command in ([str(ROOT / "manage.py"), "start_type", "Dish"], ["-m", "pytest", *options, str(CASES)]):
        done = subprocess.run(
            [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
