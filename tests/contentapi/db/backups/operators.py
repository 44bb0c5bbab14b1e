"""An operator with a PostgreSQL server of their own, who runs the commands `backup` and `restore`."""

import resource
import subprocess
import sys
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

from tests.deployment.processes import PATIENCE, ROOT, inherit_environment
from tests.deployment.template import Template

SECRET = "a secret of more than fifty characters 0123456789 abcdefgh"
DATABASES = count(1)
IMAGE = f"media/7-{'0' * 32}/320.webp"


class Operator:
    """Runs commands on databases of one server, which has a migrated database `source` with the demo content."""

    def __init__(self, folder: Path, template: Template) -> None:
        self.folder = folder
        self.server = template.copy_data(folder / "postgres")
        self.server.start()
        self.create_database("source", "TEMPLATE contentapi")
        self.execute("CREATE TABLE events_receiver AS SELECT 1 AS id", "source")  # no part of the log of events

    def build_url(self, database: str, user: str = "postgres") -> str:
        return self.server.build_url(database).replace("postgres@", f"{user}@")

    def locate_media(self, database: str) -> Path:
        """Return the folder of the files of images that belong to a database."""
        return self.folder / f"media-{database}"

    def connect(self, database: str = "postgres") -> psycopg.Connection[Any]:
        return psycopg.connect(self.build_url(database), autocommit=True)

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        return self.server.execute(statement, database=database)

    def create_database(self, name: str = "", options: str = "") -> str:
        name = name or f"empty{next(DATABASES)}"
        self.execute(f'CREATE DATABASE "{name}" {options}')
        return name

    def build_environment(self, database: str, **variables: str) -> dict[str, str]:
        settings = {"DATABASE_URL": self.build_url(database), "SECRET_KEY": SECRET, "JWT_SECRET": SECRET}
        settings["CONTENTAPI_MEDIA"] = str(self.locate_media(database))
        return {**inherit_environment(), **settings, **variables}

    def start(
        self,
        database: str,
        *arguments: str,
        start_new_session: bool = False,
        file_size: int | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> "subprocess.Popen[str]":
        """Start a command. `file_size` limits the size of its files, in bytes."""

        def limit_file_size() -> None:
            if file_size is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))

        return subprocess.Popen(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.build_environment(database, **(variables or {})),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=start_new_session,
            preexec_fn=limit_file_size,
        )

    def manage(self, database: str, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        process = self.start(database, *arguments, variables=variables)
        printed = process.communicate(timeout=PATIENCE)
        return subprocess.CompletedProcess(process.args, process.returncode, *printed)

    def read_rows(self, database: str) -> dict[str, list[str]]:
        """Return all rows of all tables as sorted lines of COPY: a comparison that needs no manifest.

        A backup contains no log of events.
        """
        with self.connect(database) as connection:
            names = connection.execute(
                "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
                " AND relname !~ '^events_(outbox|log|event(_[0-9]+)?)$'"
            ).fetchall()
            return {name: self.copy_table(connection, name) for (name,) in names}

    def copy_table(self, connection: psycopg.Connection[Any], name: str) -> list[str]:
        with connection.cursor() as cursor, cursor.copy(f"COPY {name} TO STDOUT".encode()) as copy:
            return sorted(b"".join(bytes(part) for part in copy).decode().splitlines())


def is_waiting(operator: Operator, database: str) -> bool:
    """Return whether a session waits for a lock."""
    waiting = f"SELECT 1 FROM pg_stat_activity WHERE datname = '{database}' AND wait_event_type = 'Lock'"  # noqa: S608
    return bool(operator.execute(waiting))


def ignore(_: str) -> None:
    """Report nothing."""


def require_success(done: "subprocess.CompletedProcess[str]") -> str:
    """Return the standard output of a command that succeeded."""
    assert done.returncode == 0, done.stderr
    return done.stdout


def require_error(done: "subprocess.CompletedProcess[str]") -> str:
    """Return the message of a command that failed with a `CommandError`, on one line without a traceback."""
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert "Traceback" not in done.stderr
    assert "CommandError: " in done.stderr
    return done.stderr.partition("CommandError: ")[2]
