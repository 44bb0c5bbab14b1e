"""The programs of PostgreSQL, as children of this process."""

import os
import signal
import subprocess
from typing import Any

import pytest

from contentapi.db.backups import programs


@pytest.mark.parametrize("number", programs.SIGNALS)
def test_signal_while_a_program_starts_ends_it(monkeypatch: pytest.MonkeyPatch, number: signal.Signals) -> None:
    started: list[subprocess.Popen[bytes]] = []
    start, handler = subprocess.Popen, signal.getsignal(number)

    def start_and_be_interrupted(*arguments: Any, **options: Any) -> "subprocess.Popen[bytes]":
        started.append(start(*arguments, **options))
        os.kill(os.getpid(), number)
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", start_and_be_interrupted)
    with pytest.raises(SystemExit) as ended, programs.exit_on_signals(), programs.run_program(["sleep", "600"], {}):
        pytest.fail("The signal was lost.")

    assert ended.value.code == 128 + number
    assert started[0].returncode == -signal.SIGTERM
    assert signal.getsignal(number) == handler
