"""The databases of the benchmark, with the same rows in both.

`bench` has the peers' tables. `contentapi` has ours, made by our migrations and filled by COPY.
"""

import hashlib
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from benchmarks import dataset
from benchmarks.dataset import Author, Comment, Post
from benchmarks.places import HERE, ROOT, WORK, clean_environment
from benchmarks.postgres import SOCKET, Address, BenchmarkServer
from benchmarks.processes import DATABASE_CORE, pin, with_descendants
from contentapi.db.ids import SEQUENCE

# All data in memory, and no background work during a run: the servers are measured, not the disk.
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
    """One of the databases. The benchmark itself connects over the Unix socket."""

    def __init__(
        self, address: Address | str, name: str, folder: Path = ROOT, python: str | Path = sys.executable
    ) -> None:
        """Take the address of the server, or just the folder of its socket; and the code that uses the database."""
        self.address = Address(address) if isinstance(address, str) else address
        self.name, self.folder, self.python = name, folder, python

    @property
    def url(self) -> str:
        return self.url_over(SOCKET)

    def url_over(self, transport: str) -> str:
        return self.address.url(self.name, transport)

    @cached_property
    def connection(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.url, autocommit=True)

    def run(self, *statements: str) -> None:
        for statement in statements:
            self.connection.execute(statement.encode())

    def row(self, statement: str) -> Any:
        return self.connection.execute(statement.encode()).fetchone()

    @contextmanager
    def without_triggers(self) -> Iterator[None]:
        """Execute the block as replication does. Our triggers note each change of a post, and set `updated_at`."""
        with self.connection.transaction():
            self.run("SET LOCAL session_replication_role = replica")
            yield

    def change_title(self, post_id: int, title: str) -> None:
        """Change nothing but the title of a post, so that a second change restores the row."""
        with self.without_triggers():
            self.connection.execute("UPDATE blog_post SET title = %s WHERE id = %s", [title, post_id])

    def delete_created_posts(self) -> None:
        """Delete the posts that `createPost` has created, and keep none in the history."""
        with self.without_triggers():
            self.run(f"DELETE FROM blog_post WHERE id > {dataset.POSTS}")

    def clean(self) -> None:
        """Delete the created posts, and their space."""
        self.delete_created_posts()
        self.run("VACUUM ANALYZE blog_post", "CHECKPOINT")


class Postgres:
    """PostgreSQL with the benchmark's settings and databases."""

    def __init__(self) -> None:
        self.server = BenchmarkServer(WORK / "postgres")
        self.address = Address("")

    def start(self, *, with_tcp: bool = False) -> None:
        running = self.server.connect()
        maintenance = Database(running, "postgres")
        for name, value in SETTINGS.items():
            maintenance.run(f"ALTER SYSTEM SET {name} = '{value}'")
        maintenance.connection.close()
        self.address = self.server.restart(running.folder, with_tcp=with_tcp)
        if with_tcp:
            maintenance = Database(self.address, "postgres")
            maintenance.run(f"ALTER ROLE postgres PASSWORD '{self.address.password}'")
            maintenance.connection.close()
        pin(with_descendants(self.pid), DATABASE_CORE)  # new processes inherit the first one's core

    @property
    def pid(self) -> int:
        return self.server.process_id

    def load(self, others: Mapping[str, tuple[Path, Path]]) -> dict[str, Database]:
        """Return the databases by name. Load their rows if they are missing or their sources have changed.

        `others` has the folder and the Python of other commits, by the name of their database.
        """
        loaders: dict[str, Callable[[Database], None]] = {"bench": load_peers, "contentapi": load_ours}
        loaders |= dict.fromkeys(others, load_other)
        databases = {name: Database(self.address, name, *others.get(name, ())) for name in loaders}
        maintenance = Database(self.address, "postgres")
        for name, load in loaders.items():
            if self.version_of(name, maintenance) != digest():
                print(f"Loading the database {name} (once; about half a minute)", flush=True)
                maintenance.run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", f"CREATE DATABASE {name}")
                load(databases[name])
                databases[name].run("VACUUM (FREEZE, ANALYZE)", f"COMMENT ON DATABASE {name} IS '{digest()}'")
        maintenance.connection.close()
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
    """Return a hash of the files that the loaded databases depend on."""
    files = [
        HERE / "dataset.py",
        HERE / "database.py",
        *HERE.glob("*.sql"),
        *ROOT.glob("*/migrations/*.py"),
        *ROOT.glob("*/*/migrations/*.py"),
    ]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(files))).hexdigest()


def load_peers(database: Database) -> None:
    rows = dataset.generate()
    database.run((HERE / "schema.sql").read_text())
    copy(database, "blog_author", list(Author._fields), rows.authors)
    copy(database, "blog_post", list(Post._fields), rows.posts)
    copy(database, "blog_comment", list(Comment._fields), rows.comments)
    for table in ("blog_author", "blog_post", "blog_comment"):
        database.run(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))")
    database.run((HERE / "indexes.sql").read_text())


def load_ours(database: Database) -> None:
    rows = dataset.generate()
    manage(database, "migrate", "--verbosity", "0")
    manage(database, "create_user", EDITOR, "--name", "Bench", "--role", "editor")
    authors = [(*author, dataset.EPOCH) for author in rows.authors]
    copy(database, "blog_author", [*Author._fields, "created_at"], authors)
    copy(database, "blog_post", [*Post._fields, "version"], [(*post, 1) for post in rows.posts])
    copy(database, "blog_comment", list(Comment._fields), rows.comments)
    highest = max(rows.authors[-1].id, rows.posts[-1].id, rows.comments[-1].id)
    database.run(f"SELECT setval('{SEQUENCE}', {highest})")  # of all tables together


def load_other(database: Database) -> None:
    """Load the rows as the code of another commit does."""
    folder, port = database.address.folder, database.address.port
    code = f"from benchmarks.database import *; load_ours(Database(Address({folder!r}, {port}), {database.name!r}))"
    command = [database.python, "-c", code]
    subprocess.run(command, cwd=database.folder, env=clean_environment(), check=True)


def copy(database: Database, table: str, columns: list[str], rows: list[Any]) -> None:
    into = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with database.connection.cursor() as cursor, cursor.copy(into) as stream:
        for row in rows:
            stream.write_row(row)


def our_environment(database: Database, transport: str = SOCKET) -> dict[str, str]:
    secret = "only-for-the-benchmark-" + "x" * 40
    return {"DATABASE_URL": database.url_over(transport), "SECRET_KEY": secret, "JWT_SECRET": secret}


def manage(database: Database, *arguments: str) -> str:
    """Run one of our operators' commands and return its output."""
    done = subprocess.run(
        [database.python, "manage.py", *arguments],
        cwd=database.folder,
        env=clean_environment() | our_environment(database),
        check=True,
        text=True,
        stdout=subprocess.PIPE,
    )
    return done.stdout.strip()


def make_credentials(database: Database) -> dict[str, tuple[str, str]]:
    """Create an API key and an access token of an editor with all scopes. Return name and value of their headers."""
    key = manage(database, "create_api_key", EDITOR, "--name", "make bench").split()[-1]
    token = manage(database, "issue_token", EDITOR, "--ttl", "86400").split()[-1]
    return {"key": ("X-API-Key", key), "token": ("Authorization", f"Bearer {token}")}
