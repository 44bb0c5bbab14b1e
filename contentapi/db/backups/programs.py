"""Find and run PostgreSQL's client programs in the version that fits the server."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from contentapi.conf.timeouts import PROGRAM_STOP_LIMIT
from contentapi.db.embedded.programs import PROGRAMS as EMBEDDED_PROGRAMS

# Where Debian, Red Hat, Homebrew and Postgres.app install the programs of a major version.
PLACES = (
    "/usr/lib/postgresql/{major}/bin",
    "/usr/pgsql-{major}/bin",
    "/opt/homebrew/opt/postgresql@{major}/bin",
    "/usr/local/opt/postgresql@{major}/bin",
    "/Applications/Postgres.app/Contents/Versions/{major}/bin",
)
NEWEST_MAJOR = 25  # of the versions that are looked for
SETS_TRANSACTION_TIMEOUT = 17  # since this version, pg_restore sets a parameter that older servers reject
VERSION = re.compile(r"\(PostgreSQL\) ((\d+)\S*)")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class BackupError(Exception):
    """A reason why a backup or a restore is not possible, for the operator."""


class Program(NamedTuple):
    path: Path
    major: int
    version: str


def find_programs(name: str, server_major: int) -> list[Program]:
    """Return the installed versions of a program that fit a server: the server's own version first, then newer ones.

    An older program does not know the server's catalog. Raises `BackupError` if there is none.
    """
    paths = list_paths(name, server_major)
    found = [*filter(None, map(read_version, paths))]
    is_old = server_major < SETS_TRANSACTION_TIMEOUT
    newest = 16 if is_old and name == "pg_restore" else NEWEST_MAJOR
    fitting = [program for program in found if server_major <= program.major <= newest]
    if fitting:
        return sorted(fitting, key=lambda program: program.major)  # stable: of one version, the first on PATH
    wanted = f"{server_major} or newer" if newest == NEWEST_MAJOR else f"{server_major} to {newest}"
    raise BackupError(
        f"The server is PostgreSQL {server_major}, which needs {name} {wanted}.{describe_found(found)} "
        f"Install the package postgresql-client-{server_major} (Debian, from apt.postgresql.org) or "
        f"postgresql{server_major} (Red Hat)."
    )


def describe_found(programs: Sequence[Program]) -> str:
    listed = ", ".join(f"{each.path} ({each.version})" for each in programs)
    return f" Found only: {listed}." if programs else ""


def list_paths(name: str, server_major: int) -> Iterator[Path]:
    """Yield where a program may be: on PATH, in the usual places, and in the wheel of the embedded server."""
    on_path = shutil.which(name)
    if on_path:
        yield Path(on_path)
    for major in range(server_major, NEWEST_MAJOR + 1):
        yield from (Path(place.format(major=major), name) for place in PLACES)
    yield EMBEDDED_PROGRAMS / name


def read_version(path: Path) -> Program | None:
    """Return the program at this path with its version, or None if it is missing or does not run."""
    try:
        printed = subprocess.run(
            [path, "--version"], capture_output=True, text=True, check=True, timeout=PROGRAM_STOP_LIMIT
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    match = VERSION.search(printed)
    return Program(path, int(match[2]), match[1]) if match else None


class RunningProgram:
    """A program that runs beside this process. Its messages are kept for the error."""

    def __init__(self, name: str, process: "subprocess.Popen[bytes]", messages: IO[bytes]) -> None:
        self.name = name
        self.process = process
        self.messages = messages

    def require_no_failure(self) -> None:
        """Raise `BackupError` if the program has ended with an error."""
        if self.process.poll():
            code = self.process.returncode
            reason = self.read_messages() or (
                f"It was ended by signal {-code}." if code < 0 else f"Its status is {code}."
            )
            raise BackupError(f"{self.name} failed. {reason}")

    def wait(self) -> None:
        """Wait for the end. Raises `BackupError` if the program ends with an error."""
        self.process.wait()
        self.require_no_failure()

    def read_messages(self) -> str:
        self.messages.seek(0)
        return self.messages.read().decode(errors="replace").strip()


@contextmanager
def run_program(command: Sequence[str | Path], environment: dict[str, str]) -> Iterator[RunningProgram]:
    """Run a program. When the block ends, also by an exception or a signal, the program has ended."""
    process: subprocess.Popen[bytes] | None = None
    with tempfile.TemporaryFile() as messages:
        try:
            with postpone_signals():
                process = subprocess.Popen(
                    command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=messages
                )
            yield RunningProgram(Path(command[0]).name, process, messages)
        finally:
            if process is not None:
                end_process(process)


def end_process(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(PROGRAM_STOP_LIMIT)
    if process.poll() is None:
        process.kill()
        process.wait()


@contextmanager
def postpone_signals(signals: Iterable[signal.Signals] = SIGNALS) -> Iterator[None]:
    """Handle signals at the end of the block: one inside `Popen` would lose the process that it has started.

    They are not blocked, because the new process would inherit that.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    before = {each: signal.signal(each, lambda number, _: received.append(number)) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        for number in received:
            signal.raise_signal(number)


@contextmanager
def exit_on_signals(signals: Iterable[signal.Signals] = SIGNALS) -> Iterator[None]:
    """Raise `SystemExit` on the first signal inside the block, and ignore others, so that the clean-up is complete."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: object) -> None:
        for each in signals:
            signal.signal(each, signal.SIG_IGN)
        sys.exit(128 + number)

    before = {each: signal.signal(each, end) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def build_environment(password: str | None, *, is_embedded: bool) -> dict[str, str]:
    """Return the environment of a program. The password is there: all users can read arguments."""
    environment = {name: value for name, value in os.environ.items() if not (is_embedded and name.startswith("PG"))}
    environment |= {"LC_ALL": "C"}  # messages in English
    return environment if password is None else environment | {"PGPASSWORD": password}
