"""PostgreSQL servers for one test: a primary, and streaming replicas made by pg_basebackup."""

import os
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg

from contentapi.db.embedded.programs import PROGRAMS, get_or_create_server_account, grant_server_account_access
from tests.deployment.ports import find_free_port
from tests.deployment.processes import PATIENCE, Process, run_program, start_process, wait_until

LOCALE = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
# Small and fast: the data of a test need not survive the machine.
TEST_SETTINGS = {"fsync": "off", "shared_buffers": "32MB", "max_connections": "60"}


class PostgresServer:
    """One server, which listens on a port of 127.0.0.1. `settings` are those of its command line."""

    programs = PROGRAMS
    locale: Sequence[str] = LOCALE

    def __init__(self, folder: Path, *, port: int | None = None, settings: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.port = port or find_free_port()
        self.settings = {**TEST_SETTINGS, **(settings or {})}
        self.process: Process | None = None

    def build_url(self, database: str = "contentapi") -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def create(self) -> "PostgresServer":
        """Create a primary with an empty database "contentapi", and start it."""
        self.initialize()
        self.start()
        self.execute("CREATE DATABASE contentapi", database="postgres")
        return self

    def initialize(self, *options: str) -> None:
        """Create the data directory."""
        self.prepare_folder()
        trusted = ["--username=postgres", "--auth=trust"]
        self.run("initdb", *self.locale, *trusted, *options, "--no-sync", "-D", str(self.folder))

    def copy_from(self, primary: "PostgresServer", *, slot: str = "") -> "PostgresServer":
        """Copy a primary with pg_basebackup, and start the copy as its replica."""
        self.prepare_folder()
        source = ["-h", "127.0.0.1", "-p", str(primary.port), "-U", "postgres"]
        options = ["--write-recovery-conf", "--checkpoint=fast", "--no-sync", *(["-C", "-S", slot] if slot else [])]
        self.run("pg_basebackup", *source, *options, "-D", str(self.folder))
        self.start()
        return self

    def follow(self, primary: "PostgresServer") -> None:
        """Make a copy of the data of a primary a replica at its next start."""
        source = f"host=127.0.0.1 port={primary.port} user=postgres"
        with (self.folder / "postgresql.conf").open("a") as configuration:
            configuration.write(f"primary_conninfo = '{source}'\n")
        signal_file = self.folder / "standby.signal"
        signal_file.touch()
        owner = self.folder.stat()
        os.chown(signal_file, owner.st_uid, owner.st_gid)

    def prepare_folder(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True)
        self.grant_access()
        if os.geteuid() == 0:
            os.chown(self.folder, *get_or_create_server_account())

    def grant_access(self) -> None:
        """Let the account of the server reach the folder."""
        if os.geteuid() == 0:
            grant_server_account_access(self.folder)

    def run(self, program: str, *arguments: str) -> None:
        options = self.account_options
        done = run_program(self.programs / program, *arguments, env=options.pop("environment"), **options)
        assert done.returncode == 0, done.stderr

    @property
    def account_options(self) -> dict[str, Any]:
        """The options of a subprocess that runs as the owner of the data, because PostgreSQL refuses to run as root."""
        user, group = get_or_create_server_account() if os.geteuid() == 0 else (None, None)
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        groups: dict[str, Any] = {"extra_groups": []} if user is not None else {}
        return {"cwd": "/", "environment": clean, "user": user, "group": group, **groups}

    def start(self) -> None:
        options = {"port": str(self.port), "listen_addresses": "127.0.0.1", "unix_socket_directories": ""}
        values = [f"-c{name}={value}" for name, value in {**options, **self.settings}.items()]
        command = [str(self.programs / "postgres"), "-D", str(self.folder), *values]
        log = self.folder.with_name(f"{self.folder.name}.log")
        self.process = start_process(command, log, **self.account_options)
        wait_until(self.is_accepting, "the start of PostgreSQL")

    def is_accepting(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, "PostgreSQL did not start."
        try:
            self.execute("SELECT 1", database="postgres")
        except psycopg.OperationalError:
            return False
        return True

    def execute(self, sql: str, *, database: str = "contentapi") -> list[tuple[Any, ...]]:
        with psycopg.connect(self.build_url(database), autocommit=True, connect_timeout=PATIENCE) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []

    def promote(self) -> None:
        assert self.execute("SELECT pg_promote(true, 60)") == [(True,)]

    def wait_for_replay(self, primary: "PostgresServer") -> None:
        """Wait until this replica has replayed what the primary has written."""
        (position,) = primary.execute("SELECT pg_current_wal_insert_lsn()")[0]
        replayed = f"SELECT pg_last_wal_replay_lsn() >= '{position}'"
        wait_until(lambda: self.execute(replayed) == [(True,)], "the replay")

    def get_processes(self) -> list[psutil.Process]:
        assert self.process is not None
        try:
            postmaster = psutil.Process(self.process.pid)
            return [postmaster, *postmaster.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    @contextmanager
    def suspended(self) -> Iterator[None]:
        self.suspend()
        try:
            yield
        finally:
            self.resume()

    def suspend(self) -> None:
        """Stop all processes (SIGSTOP). Connections are accepted by the kernel, and nothing responds."""
        assert self.process is not None
        psutil.Process(self.process.pid).suspend()  # first, so that it creates no more
        self.signal_all(signal.SIGSTOP)

    def resume(self) -> None:
        self.signal_all(signal.SIGCONT)

    def signal_all(self, number: signal.Signals) -> None:
        for process in self.get_processes():
            with suppress(psutil.NoSuchProcess):  # it has just ended
                process.send_signal(number)

    def stop(self) -> None:
        """Stop the server and end its connections."""
        self.end(signal.SIGINT)

    def kill(self) -> None:
        """Kill all processes at once, as when the machine fails."""
        self.end(signal.SIGKILL)

    def end(self, number: signal.Signals) -> None:
        if self.process is None:
            return
        if number is signal.SIGKILL:
            self.signal_all(number)
        else:
            self.process.send_signal(number)
        self.process.wait(PATIENCE)
        self.process = None

    def remove(self) -> None:
        if self.process is not None:
            self.resume()
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
