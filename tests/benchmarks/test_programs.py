"""The programs of the benchmarks start without the settings of Django, as `make` starts them."""

import os
import subprocess
import sys

import pytest

from tests.deployment.processes import ROOT

PROGRAMS = sorted(file.parent.name for file in (ROOT / "benchmarks").glob("*/__main__.py"))


@pytest.mark.servers
@pytest.mark.parametrize("program", PROGRAMS)
def test_program_shows_its_options(program: str) -> None:
    variables = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    command = [sys.executable, "-m", f"benchmarks.{program}", "--help"]

    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: python -m benchmarks.{program}")
