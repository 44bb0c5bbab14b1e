"""Runs the embedded PostgreSQL of the benchmark under var/bench, on a Unix socket and optionally on TCP."""

import secrets
import shlex
from dataclasses import dataclass

from contentapi.db.embedded.server import PORT, EmbeddedServer
from tests.deployment.ports import find_free_port

SOCKET, TCP = "socket", "tcp"
TRANSPORTS = (SOCKET, TCP)
HOST = "127.0.0.1"


@dataclass(frozen=True)
class Address:
    """How to reach PostgreSQL: the folder of its Unix socket, or TCP on loopback, where it requires the password."""

    folder: str
    port: int = PORT  # also a part of the socket's name
    password: str = ""

    def url(self, database: str, transport: str = SOCKET) -> str:
        if transport == SOCKET:
            return f"postgresql://postgres@/{database}?host={self.folder}&port={self.port}"
        return f"postgresql://postgres:{self.password}@{HOST}:{self.port}/{database}"


class BenchmarkServer(EmbeddedServer):
    """The embedded server, which can also listen on TCP."""

    @property
    def process_id(self) -> int:
        return int(self._record()[0])

    def connect(self) -> Address:
        """Start the server if it does not run, and return its address."""
        folder = self.acquire()
        return Address(folder, int(self._record()[3]))

    def restart(self, folder: str, *, with_tcp: bool) -> Address:
        """Restart, so that all settings apply. With TCP, each start has a new port and a new password."""
        if with_tcp:
            address = Address(folder, find_free_port(), secrets.token_hex(16))
            access = self.data / "benchmark_hba.conf"
            access.write_text(f"local all all trust\nhost all all {HOST}/32 scram-sha-256\n")
            access.chmod(0o644)  # as root, the server runs as another account
            options = f"-h {HOST} -c hba_file={shlex.quote(str(access))}"
        else:
            address = Address(folder)
            options = "-h ''"
        options += f" -p {address.port} -k {shlex.quote(folder)}"
        log = str(self.data / "server.log")
        self._run("pg_ctl", "restart", "-w", "-m", "fast", "-D", str(self.data), "-l", log, "-o", options)
        return address
