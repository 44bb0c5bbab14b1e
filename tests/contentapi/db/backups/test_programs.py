"""The programs of PostgreSQL, as children of this process."""

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from django.core.management.base import CommandError

from contentapi.db.backups import programs
from tests.contentapi.db.backups.operators import ROOT

INTERRUPTED = """
import os, subprocess, sys
from contentapi.db.backups import programs

class Interrupted(subprocess.Popen):
    def __init__(self, *arguments, **options):
        os.kill(os.getpid(), int(sys.argv[1]))
        super().__init__(*arguments, **options)
        print(self.pid, flush=True)

subprocess.Popen = Interrupted
programs.exit_on_signals()
with programs.run_program(["sleep", "600"], {}):
    print("lost")
"""


@pytest.mark.parametrize("number", programs.SIGNALS)
def test_signal_while_a_program_starts_ends_it(number: signal.Signals) -> None:
    command = [sys.executable, "-c", INTERRUPTED, str(int(number))]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 128 + number, done.stderr
    assert not psutil.pid_exists(int(done.stdout))


@pytest.mark.parametrize(
    ("name", "server", "chosen"),
    [("pg_dump", 15, 15), ("pg_dump", 16, 17), ("pg_restore", 15, 15), ("pg_restore", 17, 18)],
)
def test_program_fits_the_server(monkeypatch: pytest.MonkeyPatch, name: str, server: int, chosen: int) -> None:
    installed = [programs.Program(Path(f"/{major}"), major, f"{major}.1") for major in (18, 15, 17, 14)]
    monkeypatch.setattr(programs, "list_paths", lambda _: range(len(installed)))
    monkeypatch.setattr(programs, "read_version", installed.__getitem__)

    assert programs.find_program(name, server).major == chosen


def test_server_without_a_program_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "list_paths", lambda _: [])

    with pytest.raises(CommandError, match=r"PostgreSQL 16, which needs pg_restore 16 to 16\. Found only: none"):
        programs.find_program("pg_restore", 16)
