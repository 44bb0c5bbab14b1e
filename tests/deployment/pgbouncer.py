"""A PgBouncer in transaction mode for one test."""

import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any
from unittest import SkipTest

import psycopg

from contentapi.db.embedded.programs import get_or_create_server_account
from tests.deployment.ports import find_free_port
from tests.deployment.postgresql import PostgresServer
from tests.deployment.processes import PATIENCE, ROOT, start_process, wait_until_listening

UNPACKED = ROOT / "var/pgbouncer/pgbouncer"  # by .ci/install_pgbouncer
MINIMUM = (1, 21)  # the first with prepared statements in transaction mode
CONFIGURATION = """
[databases]
contentapi = host=127.0.0.1 port={server} dbname=contentapi user=postgres

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {users}
admin_users = postgres
pool_mode = transaction
max_prepared_statements = 200
ignore_startup_parameters = options
default_pool_size = {pool}
max_client_conn = 500
query_wait_timeout = 30
server_connect_timeout = 2
server_login_retry = 1
"""


def find_pgbouncer() -> str | None:
    """Return a PgBouncer that is new enough, or None."""
    for program in (str(UNPACKED), shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")):
        if program and Path(program).exists():
            output = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout.split()
            if len(output) > 1 and tuple(int(part) for part in output[1].split(".")[:2]) >= MINIMUM:
                return program
    return None


class PgBouncer:
    """A pool of `pool` connections to a server. Skips the test if there is no program."""

    def __init__(self, folder: Path, server: PostgresServer, *, pool: int, port: int = 0) -> None:
        program = find_pgbouncer()
        if program is None:
            raise SkipTest("There is no PgBouncer 1.21 or newer (run .ci/install_pgbouncer).")
        folder.mkdir(mode=0o755)
        self.port = port or find_free_port()
        users = folder / "users.txt"
        users.write_text('"postgres" ""\n')
        configuration = folder / "pgbouncer.ini"
        configuration.write_text(CONFIGURATION.format(server=server.port, port=self.port, users=users, pool=pool))
        as_root: dict[str, Any] = {}
        if os.geteuid() == 0:  # PgBouncer refuses to run as root
            user, group = get_or_create_server_account()
            as_root = {"user": user, "group": group, "extra_groups": []}
        self.process = start_process([program, str(configuration)], folder / "log", os.environ, cwd="/", **as_root)
        wait_until_listening(self.process, self.port, folder / "log")

    def build_url(self, database: str = "contentapi") -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def show(self, what: str) -> list[dict[str, Any]]:
        """Return the rows of a SHOW command of the console."""
        with psycopg.connect(self.build_url("pgbouncer"), autocommit=True, connect_timeout=PATIENCE) as connection:
            result = connection.pgconn.exec_(f"SHOW {what}".encode())  # the console has only the simple protocol
            names = [(result.fname(column) or b"").decode() for column in range(result.nfields)]
            return [
                {name: (result.get_value(row, column) or b"").decode() for column, name in enumerate(names)}
                for row in range(result.ntuples)
            ]

    def stop(self) -> None:
        self.process.send_signal(signal.SIGQUIT)  # at once; SIGTERM waits for the clients
        self.process.wait(PATIENCE)
