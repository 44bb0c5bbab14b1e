"""PostgreSQL for the benchmark: the wheel's, under var/bench, with the same rows in two databases.

`bench` has the peers' tables. `contentapi` is ours: migrated by our own migrations, its rows put in by COPY.
"""

import hashlib
import subprocess
import sys
from collections.abc import Callable
from functools import cached_property
from typing import Any

import psycopg
from psycopg import sql

from benchmarks import dataset
from benchmarks.dataset import Author, Comment, Post
from benchmarks.places import HERE, ROOT, WORK, clean_environment
from benchmarks.processes import DATABASE_CORE, pin, with_descendants
from contentapi.embedded.server import EmbeddedServer

# Everything in memory, and no background work in the middle of a run: servers are measured, not the disk.
SETTINGS = {
    "autovacuum": "off",
    "effective_cache_size": "4GB",
    "jit": "off",
    "max_connections": "300",
    "max_parallel_workers_per_gather": "0",
    "max_wal_size": "4GB",
    "random_page_cost": "1.1",
    "shared_buffers": "512MB",
    "synchronous_commit": "off",
    "timezone": "UTC",
    "work_mem": "16MB",
}
EDITOR = "bench@example.test"


class Database:
    """One of the databases, seen by the benchmark itself."""

    def __init__(self, folder: str, name: str) -> None:
        self.folder, self.name = folder, name

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/{self.name}?host={self.folder}"

    @cached_property
    def connection(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.url, autocommit=True)

    def run(self, *statements: str) -> None:
        for statement in statements:
            self.connection.execute(statement.encode())

    def row(self, statement: str) -> Any:
        return self.connection.execute(statement.encode()).fetchone()

    def clean(self) -> None:
        """Remove what `createPost` has made."""
        self.run(f"DELETE FROM blog_post WHERE id > {dataset.POSTS}", "VACUUM ANALYZE blog_post", "CHECKPOINT")


class Postgres:
    def __init__(self) -> None:
        self.server = EmbeddedServer(WORK / "postgres")
        self.folder = ""

    def start(self) -> None:
        self.folder = self.server.hold()
        maintenance = Database(self.folder, "postgres")
        for name, value in SETTINGS.items():
            maintenance.run(f"ALTER SYSTEM SET {name} = '{value}'")
        maintenance.run("SELECT pg_reload_conf()", "SELECT pg_sleep(0.3)")
        pending = maintenance.row("SELECT count(*) FROM pg_settings WHERE pending_restart")[0]
        maintenance.connection.close()
        if pending:
            self.server.release()
            self.folder = self.server.hold()
        pin(with_descendants(self.pid), DATABASE_CORE)  # new processes take after the first

    @property
    def pid(self) -> int:
        return int((self.server.data / "postmaster.pid").read_text().split()[0])

    def load(self) -> dict[str, Database]:
        """Return the databases by their names, with their rows in them: put there once, and when they have changed."""
        loaders: dict[str, Callable[[Database], None]] = {"bench": load_peers, "contentapi": load_ours}
        maintenance = Database(self.folder, "postgres")
        for name, load in loaders.items():
            if self.version_of(name, maintenance) != digest():
                print(f"Loading the database {name} (once; about half a minute)", flush=True)
                maintenance.run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", f"CREATE DATABASE {name}")
                database = Database(self.folder, name)
                load(database)
                database.run("VACUUM (FREEZE, ANALYZE)", f"COMMENT ON DATABASE {name} IS '{digest()}'")
                database.connection.close()
        maintenance.connection.close()
        databases = {name: Database(self.folder, name) for name in loaders}
        for database in databases.values():
            database.clean()
        return databases

    @staticmethod
    def version_of(name: str, maintenance: Database) -> str | None:
        found = maintenance.row(
            f"SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = '{name}'"
        )
        return found[0] if found else None


def digest() -> str:
    """Return what the loaded databases depend on, as one word."""
    files = [HERE / "dataset.py", HERE / "database.py", *HERE.glob("*.sql"), *ROOT.glob("*/migrations/*.py")]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(files))).hexdigest()


def load_peers(database: Database) -> None:
    rows = dataset.generate()
    database.run((HERE / "schema.sql").read_text())
    copy(database, "blog_author", list(Author._fields), rows.authors)
    copy(database, "blog_post", list(Post._fields), rows.posts)
    copy(database, "blog_comment", list(Comment._fields), rows.comments)
    database.run((HERE / "indexes.sql").read_text())


def load_ours(database: Database) -> None:
    rows = dataset.generate()
    manage(database, "migrate", "--verbosity", "0")
    manage(database, "create_user", EDITOR, "--name", "Bench", "--role", "editor")
    authors = [(*author, dataset.EPOCH) for author in rows.authors]
    copy(database, "blog_author", [*Author._fields, "created_at"], authors)
    copy(database, "blog_post", [*Post._fields, "version"], [(*post, 1) for post in rows.posts])
    copy(database, "blog_comment", list(Comment._fields), rows.comments)


def copy(database: Database, table: str, columns: list[str], rows: list[Any]) -> None:
    into = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with database.connection.cursor() as cursor, cursor.copy(into) as stream:
        for row in rows:
            stream.write_row(row)
    database.run(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))")


def our_environment(database: Database) -> dict[str, str]:
    secret = "only-for-the-benchmark-" + "x" * 40
    return {"DATABASE_URL": database.url, "SECRET_KEY": secret, "JWT_SECRET": secret}


def manage(database: Database, *arguments: str) -> str:
    """Run one of our operators' commands and return what it prints."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=clean_environment() | our_environment(database),
        check=True,
        text=True,
        stdout=subprocess.PIPE,
    )
    return done.stdout.strip()


def make_credentials(database: Database) -> dict[str, tuple[str, str]]:
    """Make an editor's API key and access token, with every scope of the role: for each its header and the value."""
    key = manage(database, "create_api_key", EDITOR, "--name", "make bench").split()[-1]
    token = manage(database, "issue_token", EDITOR, "--ttl", "86400").split()[-1]
    return {"key": ("X-API-Key", key), "token": ("Authorization", f"Bearer {token}")}
