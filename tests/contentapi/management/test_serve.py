"""The process that `manage.py serve` starts. tests/e2e/test_make_run.py tests the whole command."""

import signal
import subprocess
import sys

import pytest

from contentapi.management.commands.serve import TERMINATION_SIGNALS

# The child receives the signal between its fork and its exec, while it still has its parent's handlers and signal mask.
SCRIPT = """
import os, signal, subprocess, sys
import django

django.setup()
from contentapi.management.commands.serve import TERMINATION_SIGNALS, restore_default_signals

def start():
    os.kill(os.getpid(), {number})
    restore_default_signals()

for each in TERMINATION_SIGNALS:
    signal.signal(each, lambda *_: sys.exit("the parent's handler"))
signal.pthread_sigmask(signal.SIG_BLOCK, TERMINATION_SIGNALS)
print(subprocess.run(["sh", "-c", {command!r}], preexec_fn=start, capture_output=True, text=True).{what})
"""


def run_child(number: int, command: str, what: str) -> str:
    """Return an attribute of the finished child that received a signal."""
    script = SCRIPT.format(number=number, command=command, what=what)
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert ended.stderr == ""
    return ended.stdout.strip()


@pytest.mark.parametrize("number", TERMINATION_SIGNALS)
def test_signal_before_the_server_runs_is_left_to_the_parent(number: int) -> None:
    assert run_child(int(number), "echo served", "stdout") == "served"


@pytest.mark.parametrize("number", TERMINATION_SIGNALS)
def test_signal_ends_the_running_server(number: signal.Signals) -> None:
    assert run_child(int(number), f"kill -{number.name[3:]} $$; echo served", "returncode") == str(-int(number))
