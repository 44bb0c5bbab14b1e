"""The programs of a deployment: how each is started, awaited and stopped."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from contentapi.frontend.build import INSTALL

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 180  # seconds; the machine may be busy
TIME_TO_STOP = 15
COMMANDS = {
    "granian": [sys.executable, "-m", "contentapi.server.granian"],
    "gunicorn": [sys.executable, "-m", "gunicorn", "--config", "contentapi/server/gunicorn_conf.py", "contentapi.wsgi"],
    "worker": [sys.executable, "manage.py", "worker"],
    "stream": [sys.executable, "manage.py", "stream"],
}
SERVERS = ("granian", "gunicorn")
# Bun needs a twentieth of npm's processor time for the packages of a package-lock.json. CI has it.
BUN = ["bun", "install", "--frozen-lockfile", "--linker=hoisted", "--ignore-scripts", "--silent"]
INSTALL_PACKAGES = BUN if shutil.which("bun") else INSTALL
UNREACHED_RATES = {f"CONTENTAPI_RATE_{name}": "999999999/minute" for name in ("ANONYMOUS", "AUTHENTICATED", "WRITES")}
Process = subprocess.Popen[bytes]
OURS = ("DATABASE", "REDIS", "JWT_", "SECRET_KEY", "CONTENTAPI", "DJANGO_", "PORT", "PG")


def inherit_environment(*others: str) -> dict[str, str]:
    """Return the environment without the variables of this project, and without those that begin with the others."""
    return {name: value for name, value in os.environ.items() if not name.startswith((*OURS, *others))}


def start_process(
    command: Sequence[str], log: Path | None, environment: Mapping[str, str], *, cwd: Path | str = ROOT, **options: Any
) -> Process:
    """Start a program in a session of its own. Its output is added to the log, if there is one."""
    with (log or Path(os.devnull)).open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **options,
        )


@contextmanager
def run_process(command: Sequence[str], log: Path, port: int, environment: Mapping[str, str]) -> Iterator[Process]:
    """Run a program that listens on a port. Stop it and its child processes at the end of the block."""
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    process = start_process(command, log, environment)
    try:
        wait_until_listening(process, port, log)
        yield process
    finally:
        stop_process(process)


def run_manage(
    environment: Mapping[str, str], *arguments: str, given: str = "", cwd: Path = ROOT, enter: Sequence[str] = ()
) -> str:
    """Run an operator's command that succeeds, with `given` on its standard input. Return its standard output."""
    done = run_program(*enter, sys.executable, "manage.py", *arguments, given=given, cwd=cwd, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def run_program(*command: str | Path, given: str = "", **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, with `given` on its standard input. Return its status and its output."""
    options = {"timeout": PATIENCE, **options}
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False, **options)


def install_packages(folder: Path) -> None:
    """Install the packages for Node that the lock file of a folder names."""
    done = run_program(*INSTALL_PACKAGES, cwd=folder, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr


def wait_until(condition: Callable[[], object], what: str, patience: float = PATIENCE) -> float:
    """Wait until a condition holds. Return the number of seconds. Raises `AssertionError` after `patience` seconds.

    The condition is called five times a second after the first second: many connect to a server, which takes as long as
    a request.
    """
    start = time.monotonic()
    while not condition():
        waited = time.monotonic() - start
        assert waited < patience, f"{what} did not happen within {patience} s"
        time.sleep(min(0.2, 0.02 + waited / 5))
    return time.monotonic() - start


def wait_until_listening(process: Process, port: int, log: Path | None = None) -> None:
    """Wait until a program accepts connections. Raises `RuntimeError` with the end of its log."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        if is_listening(port):
            return
        time.sleep(0.05)
    end = "\n".join(log.read_text(errors="replace").splitlines()[-15:]) if log else ""
    raise RuntimeError(f"{log or process.pid} does not start. The end of its log:\n{end}")


def is_listening(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 0.3).close()
    except OSError:
        return False
    return True


def stop_process(process: Process, patience: float = TIME_TO_STOP) -> None:
    """End a program by SIGTERM, and kill what is left of it and its child processes after some seconds."""
    started = []
    with suppress(psutil.NoSuchProcess):
        started = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    process.send_signal(signal.SIGTERM)
    _, left = psutil.wait_procs(started, timeout=patience)
    for each in left:
        with suppress(psutil.NoSuchProcess):
            each.kill()
    process.wait()
