"""What `manage.py serve` starts. The whole of it is met in tests/e2e/test_make_run.py."""

import signal
import subprocess
import sys

import pytest

from contentapi.management.commands.serve import TERMINATION_SIGNALS

# Each ending meets the child between its fork and its exec, while it still has its parent's handlers and signal mask.
MET_ON_THE_WAY = """
import os, signal, subprocess, sys
import django

django.setup()
from contentapi.management.commands.serve import ENDING, accept_endings

def start():
    os.kill(os.getpid(), {number})
    accept_endings()

for ending in ENDING:
    signal.signal(ending, lambda *_: sys.exit("the parent's handler"))
signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
print(subprocess.run(["sh", "-c", {command!r}], preexec_fn=start, capture_output=True, text=True).{what})
"""


def told(number: int, command: str, what: str) -> str:
    script = MET_ON_THE_WAY.format(number=number, command=command, what=what)
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert ended.stderr == ""
    return ended.stdout.strip()


@pytest.mark.parametrize("ending", TERMINATION_SIGNALS)
def test_an_ending_that_meets_the_server_before_it_runs_is_left_to_the_process_that_starts_it(ending: int) -> None:
    assert told(int(ending), "echo served", "stdout") == "served"


@pytest.mark.parametrize("ending", TERMINATION_SIGNALS)
def test_the_server_can_be_ended_by_signals(ending: signal.Signals) -> None:
    assert told(int(ending), f"kill -{ending.name[3:]} $$; echo served", "returncode") == str(-int(ending))
