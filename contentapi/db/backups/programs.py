"""PostgreSQL's client programs, in a version that fits the server."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from django.core.management.base import CommandError

from contentapi.conf.timeouts import PROGRAM_STOP_LIMIT
from contentapi.db.embedded.programs import PROGRAMS as EMBEDDED_PROGRAMS

# Where Debian, Red Hat, Homebrew and Postgres.app install the programs, below /
PLACES = (
    "usr/lib/postgresql/*/bin",
    "usr/pgsql-*/bin",
    "opt/homebrew/opt/postgresql@*/bin",
    "usr/local/opt/postgresql@*/bin",
    "Applications/Postgres.app/Contents/Versions/*/bin",
)
SETS_TRANSACTION_TIMEOUT = 17  # since this version, pg_restore sets a parameter that older servers reject
VERSION = re.compile(r"\(PostgreSQL\) ((\d+)\S*)")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Program(NamedTuple):
    path: Path
    major: int
    version: str


def find_program(name: str, server_major: int) -> Program:
    """Return the installed version of a program that fits a server best. Raises `CommandError` if there is none.

    An older program does not know the server's catalog. A newer pg_dump limits where its archive can be restored, and
    a newer pg_restore reads more archives.
    """
    found = [*filter(None, map(read_version, list_paths(name)))]
    if name == "pg_restore" and server_major < SETS_TRANSACTION_TIMEOUT:
        newest, wanted = SETS_TRANSACTION_TIMEOUT - 1, f"{server_major} to {SETS_TRANSACTION_TIMEOUT - 1}"
    else:
        newest, wanted = sys.maxsize, f"{server_major} or newer"
    fitting = [program for program in found if server_major <= program.major <= newest]
    if not fitting:
        listed = ", ".join(f"{each.path} ({each.version})" for each in found)
        raise CommandError(
            f"The server is PostgreSQL {server_major}, which needs {name} {wanted}. Found only: {listed or 'none'}. "
            f"Install the package postgresql-client-{server_major} (Debian, from apt.postgresql.org) or "
            f"postgresql{server_major} (Red Hat)."
        )
    choose = min if name == "pg_dump" else max
    return choose(fitting, key=lambda program: program.major)


def list_paths(name: str) -> Iterator[Path]:
    """Yield where a program may be: on PATH, in the usual places, and in the wheel of the embedded server."""
    on_path = shutil.which(name)
    if on_path:
        yield Path(on_path)
    for place in PLACES:
        yield from Path("/").glob(f"{place}/{name}")
    yield EMBEDDED_PROGRAMS / name


def read_version(path: Path) -> Program | None:
    """Return the program at this path with its version, or None if it is missing or does not run."""
    try:
        printed = subprocess.check_output([path, "--version"], text=True, timeout=PROGRAM_STOP_LIMIT)
    except (OSError, subprocess.SubprocessError):
        return None
    match = VERSION.search(printed)
    return Program(path, int(match[2]), match[1]) if match else None


@contextmanager
def run_program(command: Sequence[str | Path], environment: dict[str, str]) -> Iterator[Callable[[], None]]:
    """Run a program. Yield a function that waits for its success, and raises `CommandError` if it fails.

    When the block ends, also by an exception or a signal, the program has ended.
    """
    with tempfile.TemporaryFile() as messages:
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # a signal inside `Popen` would lose the process
        try:
            process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=messages,
                preexec_fn=unblock_signals,
            )
        except OSError as error:
            raise CommandError(f"{command[0]} cannot run: {error.strerror}.") from None

        def require_success() -> None:
            code = process.wait()
            if code:
                messages.seek(0)
                ended = f"It was ended by signal {-code}." if code < 0 else f"Its status is {code}."
                reason = messages.read().decode(errors="replace").strip() or ended
                raise CommandError(f"{Path(command[0]).name} failed. {reason}")

        try:
            unblock_signals()
            yield require_success
        finally:
            end_process(process)


def unblock_signals() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def end_process(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(PROGRAM_STOP_LIMIT)
    process.kill()
    process.wait()


def exit_on_signals() -> None:
    """Raise `SystemExit` on the first signal, and ignore others, so that the clean-up is complete."""

    def end(number: int, _: object) -> None:
        for each in SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        sys.exit(128 + number)

    for each in SIGNALS:
        signal.signal(each, end)


def build_environment(password: str | None, *, is_embedded: bool) -> dict[str, str]:
    """Return the environment of a program. The password is there: all users can read arguments."""
    environment = {name: value for name, value in os.environ.items() if not (is_embedded and name.startswith("PG"))}
    environment |= {"LC_ALL": "C"}  # messages in English
    return environment if password is None else environment | {"PGPASSWORD": password}
