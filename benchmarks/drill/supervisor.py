"""Start the programs of the drill, and start them again when they end, as a service manager does."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import psutil

from tests.deployment.processes import start_process

MARK = "CONTENTAPI_DRILL"  # an environment variable that only processes of this drill have
RESTART_DELAY = 0.2  # seconds
PATIENCE = 15  # seconds for the end of a program


class Service:
    """A program that runs until `stop`. `restarts` counts how often it was started again."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str], logs: Path) -> None:
        self.name = name
        self.command = list(command)
        self.environment = dict(environment)
        self.log = logs / f"{name}.log"
        self.restarts = -1
        self.process: subprocess.Popen[bytes] | None = None
        self.stopped = Event()
        self.may_start = Event()
        self.thread = Thread(target=self.supervise, name=name, daemon=True)

    def start(self) -> "Service":
        self.may_start.set()
        self.thread.start()
        while self.process is None:
            time.sleep(0.01)
        return self

    def supervise(self) -> None:
        while not self.stopped.is_set():
            self.may_start.wait()
            if self.stopped.is_set():
                return
            self.process = start_process(self.command, self.log, self.environment)
            self.restarts += 1
            self.process.wait()
            self.stopped.wait(RESTART_DELAY)

    @property
    def pid(self) -> int:
        return self.process.pid if self.process else 0

    def children(self) -> list[psutil.Process]:
        with suppress(psutil.Error):
            return psutil.Process(self.pid).children(recursive=True)
        return []

    def kill(self) -> None:
        """Kill the main process. It is started again."""
        self.send(signal.SIGKILL)

    def send(self, number: int) -> None:
        if self.process is not None:  # `Popen.send_signal` does nothing if the process has ended
            self.process.send_signal(number)

    def halt(self, number: int = signal.SIGTERM) -> None:
        """End the program, and do not start it again until `resume`."""
        self.may_start.clear()
        self.send(number)
        if self.process is not None:
            self.process.wait(PATIENCE)

    def resume(self) -> None:
        self.may_start.set()

    def stop(self) -> None:
        self.stopped.set()
        self.may_start.set()
        self.send(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            if self.process is not None:
                self.process.wait(PATIENCE)


def find_marked_processes(mark: str) -> list[psutil.Process]:
    """Return the processes of this drill: those with its mark in their environment, except this process."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.pid != os.getpid() and process.environ().get(MARK) == mark:
                found.append(process)
    return found


def kill_marked_processes(mark: str) -> None:
    for process in (found := find_marked_processes(mark)):
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(found, timeout=PATIENCE)
