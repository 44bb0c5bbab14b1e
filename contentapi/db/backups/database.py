"""The database that is backed up or restored, and the programs of PostgreSQL in a version that fits its server."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from django.conf import settings
from django.core.management.base import CommandError
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import sql

from contentapi.conf.timeouts import PROGRAM_LIMIT
from contentapi.db.distribution import Connection
from contentapi.db.embedded.programs import PROGRAMS as EMBEDDED_PROGRAMS

NO_LIMITS = " ".join(
    f"SET {name} = 0;" for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
)
# A restored database begins a new log of events: positions would be given a second time. Deliveries are of the old log.
EVENTS = "events_(outbox|log|event|delivery|attempt)(|_[0-9]+|_id_seq)"
NOT_DUMPED = f"*.{EVENTS}"  # a pattern of pg_dump, which knows these regular expressions
IS_OURS = """
    nspname <> 'information_schema' AND nspname !~ '^pg_' AND NOT EXISTS (
        SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')
"""
SELECT_TABLES = f"""
    SELECT nspname, relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
    WHERE relkind = 'r' AND relname !~ '^{EVENTS}$' AND {IS_OURS} ORDER BY 1, 2
"""  # noqa: S608 - a constant
SELECT_OBJECTS = f"""
    SELECT format('%I.%I', nspname, relname) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
    WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND {IS_OURS}
    UNION ALL
    SELECT format('%I.%I', nspname, typname) FROM pg_type c JOIN pg_namespace n ON n.oid = typnamespace
    WHERE typtype IN ('e', 'd') AND {IS_OURS.replace("pg_class", "pg_type")} ORDER BY 1
"""  # noqa: S608 - a constant
PLACES = ("usr/lib/postgresql/*/bin", "usr/pgsql-*/bin")  # of Debian and Red Hat, below /
SETS_TRANSACTION_TIMEOUT = 17  # since this version, pg_restore sets a parameter that older servers reject
VERSION = re.compile(r"\(PostgreSQL\) ((\d+)\S*)")


class Target(NamedTuple):
    """A database: the libpq parameters, and the environment of programs. All users can read arguments."""

    parameters: dict[str, Any]
    environment: dict[str, str]


def read_target() -> Target:
    """Return the database of the settings. Programs lack the parameters for which libpq reads no variable."""
    known = {each.keyword.decode(): each.envvar for each in psycopg.pq.Conninfo.get_defaults()}
    given = connections[DEFAULT_DB_ALIAS].get_connection_params()
    parameters = {name: value for name, value in given.items() if name in known and value not in ("", None)}
    variables = {name.decode(): str(parameters[key]) for key, name in known.items() if name and key in parameters}
    foreign = ("PG",) if settings.EMBEDDED else ()  # variables of another server
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return Target(parameters, {**inherited, **variables, "LC_ALL": "C"})  # messages in English


def connect(target: Target) -> Connection:
    """Connect to the database, without the time limits of the role. Raises `CommandError`."""
    try:
        connection = psycopg.connect(**target.parameters, autocommit=True)
    except psycopg.OperationalError as error:
        raise CommandError(f"Cannot connect to the database. {str(error).strip()}") from None
    connection.execute(NO_LIMITS)
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    return connection


def count_rows(connection: Connection) -> dict[str, int]:
    """Return the number of rows of each table, by its name."""
    rows = {}
    for schema, name in connection.execute(SELECT_TABLES).fetchall():
        statement = sql.SQL("SELECT count(*) FROM ONLY {}").format(sql.Identifier(schema, name))
        (rows[f"{schema}.{name}"],) = connection.execute(statement).fetchone() or (0,)
    return rows


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
    limit = SETS_TRANSACTION_TIMEOUT if is_limited else inf
    fitting = [program for program in found if server_major <= program.major < limit]
    choose = min if name == "pg_dump" else max
    if fitting:
        return choose(fitting, key=lambda program: program.major)
    listed = ", ".join(f"{each.path} ({each.version})" for each in found)
    raise CommandError(
        f"No {name} fits PostgreSQL {server_major}. Found only: {listed or 'none'}. Install the package "
        f"postgresql-client-{server_major} (Debian, from apt.postgresql.org) or postgresql{server_major} (Red Hat)."
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

    An exception, as of a signal, ends it too. Raises `CommandError` if it fails.
    """
    done = subprocess.run(command, env=environment, check=False, input=given, capture_output=True, errors="replace")
    if done.returncode:
        reason = done.stderr.strip() or f"Its status is {done.returncode}."
        raise CommandError(f"{Path(command[0]).name} failed. {reason}")
    return str(done.stdout)
