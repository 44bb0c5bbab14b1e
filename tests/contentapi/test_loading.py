"""Commands and servers collect no garbage while they load modules, and do so afterwards."""

import subprocess
import sys

import pytest

from tests.deployment.processes import ROOT

PRINT = "import gc; print(gc.isenabled(), gc.get_freeze_count() > 100_000)"


@pytest.mark.servers
@pytest.mark.parametrize(
    "arguments",
    [["manage.py", "shell", "--verbosity", "0", "-c", PRINT], ["-c", f"import contentapi.wsgi; {PRINT}"]],
    ids=["command", "server"],
)
def test_garbage_is_collected_after_the_start(arguments: list[str]) -> None:
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout == "True True\n"
