"""Commands and servers collect no garbage while they load modules, and do so afterwards. They load no jobs."""

import subprocess
import sys

import pytest

from tests.deployment.processes import ROOT

PRINT = "import gc, sys; print(gc.isenabled(), gc.get_freeze_count() > 100_000, 'pycurl' in sys.modules)"


@pytest.mark.servers
@pytest.mark.parametrize(
    "arguments",
    [["manage.py", "shell", "--verbosity", "0", "-c", PRINT], ["-c", f"import contentapi.wsgi; {PRINT}"]],
    ids=["command", "server"],
)
def test_garbage_is_collected_after_the_start_and_no_job_is_loaded(arguments: list[str]) -> None:
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout == "True True False\n"
