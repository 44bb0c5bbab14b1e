"""A project with an own type: reads, writes, events and pages, tested in a checkout as its team would test it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.deployment.checkout import Checkout
from tests.deployment.processes import PATIENCE, ROOT

PROJECT = ROOT / "tests/own_types"  # the SDL of the type, and tests beside those that `start_type` writes


@pytest.mark.servers
def test_tests_of_an_own_type_pass(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    shutil.copytree(PROJECT, tmp_path, dirs_exist_ok=True)
    assert checkout.manage("start_type", "Recipe").returncode == 0
    command = [".venv/bin/python", "-m", "pytest", "-q", "tests/recipes"]

    ended = subprocess.run(
        command,
        cwd=tmp_path,
        env=checkout.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=5 * PATIENCE,
    )

    checkout.kill_everything()
    assert ended.returncode == 0, ended.stdout[-5000:]
