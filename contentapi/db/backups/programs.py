"""PostgreSQL's client programs, in a version that fits the server."""

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from django.core.management.base import CommandError

from contentapi.conf.timeouts import PROGRAM_LIMIT
from contentapi.db.embedded.programs import PROGRAMS as EMBEDDED_PROGRAMS

PLACES = ("usr/lib/postgresql/*/bin", "usr/pgsql-*/bin")  # of Debian and Red Hat, below /
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
    is_limited = name == "pg_restore" and server_major < SETS_TRANSACTION_TIMEOUT
    fitting = [
        program
        for program in found
        if server_major <= program.major and not (is_limited and program.major >= SETS_TRANSACTION_TIMEOUT)
    ]
    if fitting:
        return (min if name == "pg_dump" else max)(fitting, key=lambda program: program.major)
    wanted = f"{server_major} " + (f"to {SETS_TRANSACTION_TIMEOUT - 1}" if is_limited else "or newer")
    listed = ", ".join(f"{each.path} ({each.version})" for each in found)
    raise CommandError(
        f"The server is PostgreSQL {server_major}, which needs {name} {wanted}. Found only: {listed or 'none'}. "
        f"Install the package postgresql-client-{server_major} (Debian, from apt.postgresql.org) or "
        f"postgresql{server_major} (Red Hat)."
    )


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
        printed = subprocess.check_output([path, "--version"], text=True, timeout=PROGRAM_LIMIT)
    except (OSError, subprocess.SubprocessError):
        return None
    match = VERSION.search(printed)
    return Program(path, int(match[2]), match[1]) if match else None


def run_program(command: Sequence[str | Path], environment: Mapping[str, str], given: str = "") -> str:
    """Run a program to its end, with `given` on its standard input, and return what it prints.

    It ends with an exception of a signal, too. Raises `CommandError` if it fails.
    """
    streams: dict[str, Any] = {"input": given, "capture_output": True, "text": True, "errors": "replace"}
    done = subprocess.run(command, env=environment, check=False, **streams)
    status = done.returncode
    if status:
        ended = f"Its status is {status}." if status > 0 else f"It was ended by signal {-status}."
        raise CommandError(f"{Path(command[0]).name} failed. {done.stderr.strip() or ended}")
    return str(done.stdout)


def exit_on_signals() -> None:
    """Raise `SystemExit` on the first signal, and ignore others, so that the clean-up is complete."""

    def end(number: int, _: object) -> None:
        for each in SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        sys.exit(128 + number)

    for each in SIGNALS:
        signal.signal(each, end)
