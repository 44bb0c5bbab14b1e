"""The process that `manage.py serve` starts. tests/e2e/test_make_run.py tests the whole command."""

import os
import subprocess
import sys

import psutil
import pytest

from contentapi.management.commands import serve
from contentapi.management.commands.serve import TERMINATION_SIGNALS, end_child, start_child
from tests.deployment.processes import wait_until

pytestmark = pytest.mark.servers

# A child receives the signal between its fork and its exec, while it still has its parent's handlers and signal mask.
SCRIPT = """
import os, signal, subprocess, sys
import django

django.setup()
from contentapi.management.commands.serve import TERMINATION_SIGNALS, restore_default_signals

def run(number, command):
    def start():
        os.kill(os.getpid(), number)
        restore_default_signals()

    ended = subprocess.run(["sh", "-c", command], preexec_fn=start, capture_output=True, text=True)
    print(ended.returncode, ended.stdout.strip())

for each in TERMINATION_SIGNALS:
    signal.signal(each, lambda *_: sys.exit("the parent's handler"))
signal.pthread_sigmask(signal.SIG_BLOCK, TERMINATION_SIGNALS)
for each in TERMINATION_SIGNALS:
    run(each, "echo served")
    run(each, f"kill -{each.name[3:]} $$; echo served")
"""


def test_signal_before_the_server_runs_is_left_to_the_parent_and_a_later_one_ends_it() -> None:
    ended = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, timeout=60)

    assert ended.stderr == ""
    outcomes = [line for number in TERMINATION_SIGNALS for line in ("0 served", f"{-int(number)}")]
    assert [line.strip() for line in ended.stdout.splitlines()] == outcomes


def test_end_of_a_build_ends_its_processes_even_if_they_ignore_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "STREAM_STOP_LIMIT", 0.1)
    build = start_child("sh", "-c", "trap '' TERM; sleep 60; exit")
    wait_until(psutil.Process(build.pid).children, "the start of its process")
    (own,) = psutil.Process(build.pid).children()

    end_child(build, os.killpg)

    wait_until(lambda: not own.is_running() or own.status() == psutil.STATUS_ZOMBIE, "the end of its process")
