"""PostgreSQL for the drill: a primary on TCP, and a replica for the fail-over, with their data in one folder."""

import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.drill.network import Network
from benchmarks.drill.supervisor import Service
from contentapi.db.embedded.programs import PROGRAMS, get_or_create_server_account, grant_server_account_access

PATIENCE = 90  # seconds for a start, which may include crash recovery
SETTINGS = {
    "max_connections": "80",
    "shared_buffers": "32MB",
    "max_wal_size": "64MB",
    "min_wal_size": "32MB",
    "checkpoint_timeout": "30s",
    "wal_level": "replica",
    "max_wal_senders": "4",
    "logging_collector": "off",
}


class Postgres:
    """A PostgreSQL server of the drill. `host` is its TCP address; the drill itself uses the Unix socket."""

    def __init__(
        self, name: str, folder: Path, port: int, network: Network | None, environment: Mapping[str, str], logs: Path
    ) -> None:
        self.name, self.port, self.network = name, port, network
        self.data, self.socket = folder / name, folder / "sockets"
        self.host = network.server if network else "127.0.0.1"
        self.account = get_or_create_server_account() if os.geteuid() == 0 else None
        settings = {**SETTINGS, "listen_addresses": self.host, "port": str(port)}
        settings["unix_socket_directories"] = str(self.socket)
        options = [f"-c{key}={value}" for key, value in settings.items()]
        command = [*self.as_server(), str(PROGRAMS / "postgres"), "-D", str(self.data), *options]
        if network:
            command = [*network.enter(), *command]
        self.service = Service(name, command, environment, logs)

    def as_server(self) -> list[str]:
        """Return the beginning of a command that runs as the account of the server, if this process is root."""
        if self.account is None:
            return []
        user, group = self.account
        return ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups"]

    def create(self) -> None:
        self.socket.mkdir(exist_ok=True)
        if self.account is not None:
            shutil.chown(self.socket, *self.account)
            shutil.chown(self.data.parent, *self.account)
            grant_server_account_access(self.socket)
        self.run("initdb", "--encoding=UTF8", "--username=postgres", "--auth=trust", "--wal-segsize=4", "-D", self.data)
        with (self.data / "pg_hba.conf").open("a") as access:
            access.write("host all all 0.0.0.0/0 trust\nhost replication all 0.0.0.0/0 trust\n")

    def run(self, program: str, *arguments: object) -> None:
        command = [*self.as_server(), str(PROGRAMS / program), *map(str, arguments)]
        done = subprocess.run(command, check=False, cwd="/", capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stderr.strip()}")

    def connect(self) -> psycopg.Connection[Any]:
        """Connect by the Unix socket, which no fault concerns. Raises psycopg's errors."""
        address: dict[str, Any] = {"host": str(self.socket), "port": self.port, "user": "postgres"}
        return psycopg.connect(**address, dbname="postgres", connect_timeout=3, autocommit=True)

    def query(self, sql: str) -> Any:
        """Return the first value of the first row."""
        rows = self.read(sql)
        return rows[0][0] if rows else None

    def read(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows."""
        with self.connect() as connection:
            return connection.execute(sql.encode()).fetchall()

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with suppress(psycopg.Error):
                self.query("SELECT 1")
                return
            time.sleep(0.05)
        raise RuntimeError(f"{self.name} does not start: see {self.service.log}")

    def copy_from(self, primary: "Postgres") -> None:
        """Become a replica: copy the data of the primary, and stream its changes."""
        source = f"host={primary.socket} port={primary.port} user=postgres"
        self.run("pg_basebackup", "--checkpoint=fast", "--write-recovery-conf", "-D", self.data, "-d", source)


def count_connections(postgres: Postgres) -> int:
    """Return the connections of clients, without the one that counts."""
    condition = "backend_type = 'client backend' AND pid <> pg_backend_pid()"
    return int(postgres.query(f"SELECT count(*) FROM pg_stat_activity WHERE {condition}"))


def count_idle_transactions(postgres: Postgres) -> int:
    """Return the transactions that have waited for their client for more than five seconds."""
    condition = "state LIKE 'idle in transaction%' AND state_change < now() - interval '5 seconds'"
    return int(postgres.query(f"SELECT count(*) FROM pg_stat_activity WHERE {condition}"))
