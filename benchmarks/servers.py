"""The servers that are compared, and how each is started: one process on one core."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import postgraphile
from benchmarks.conditions import ORIGIN
from benchmarks.database import Database, our_environment
from benchmarks.install import BUN, NODE, python_of
from benchmarks.places import LOGS, PEERS, ROOT, clean_environment
from benchmarks.postgres import SOCKET, free_port
from benchmarks.processes import SERVER_CORE
from benchmarks.workloads import Dialect

PATIENCE = 60  # seconds for a start

# One worker and four threads each.
GRANIAN = (
    "--interface wsgi --host 127.0.0.1 --port {port} --workers 1 --blocking-threads 4"
    " --blocking-threads-idle-timeout 600 --no-ws --http 1"
).split()
GUNICORN = (
    "--bind 127.0.0.1:{port} --workers 1 --worker-class gthread --threads 4 --keep-alive 75 --no-control-socket"
    " --log-level warning"
).split()

# An anonymous caller may not create posts or read emails: these workloads are sent as an editor, with an access token
# (as client apps do) or with an API key. The other requests carry no credential.
CREDENTIALS = {"create": "token", "page100": "token", "create-key": "key"}


@dataclass(frozen=True)
class Peer:
    """A server to compare. In the command, {port} is replaced by its port."""

    name: str
    command: list[str]
    folder: Path
    kit: str = ""  # the packages that it needs: "python", "graphene" or "node"
    environment: dict[str, str] = field(default_factory=dict)
    database: str = "bench"
    credentials: Mapping[str, str] = field(default_factory=dict)  # by workload
    dialect: Dialect = field(default_factory=Dialect)

    @property
    def is_ours(self) -> bool:
        return self.database == "contentapi"

    @property
    def is_floor(self) -> bool:
        """Whether this is a server without GraphQL, which shows the minimum cost of a request."""
        return self.name.startswith("floor-")

    @property
    def missing_tools(self) -> str | None:
        """The reason why the kit cannot be installed on this machine, or None."""
        if self.kit == "node" and not (shutil.which("node") and shutil.which("npm")):
            return "Node and npm are not installed"
        return None

    @property
    def missing_program(self) -> str | None:
        """The reason why an installed peer does not run on this machine, or None. Bun supports only some platforms."""
        if self.command[0] != str(BUN):
            return None
        try:
            subprocess.run([BUN, "--version"], check=True, capture_output=True, timeout=30)
        except (OSError, subprocess.SubprocessError) as error:
            return f"Bun does not run on this machine: {error}"
        return None


# Requests are charged as usual, but no run reaches these rate limits.
UNREACHED_RATES = {f"CONTENTAPI_RATE_{limit}": "999999999/minute" for limit in ("ANONYMOUS", "AUTHENTICATED", "WRITES")}


def ours(name: str, *command: str) -> Peer:
    program = str(Path(sys.executable).with_name(command[0]))
    environment = {
        "CONTENTAPI_BIND": "127.0.0.1",
        "CORS_ALLOWED_ORIGINS": ORIGIN,
        "WEB_CONCURRENCY": "1",
        "CONTENTAPI_LOG_SAMPLE": "0",  # the others log no requests either
        **UNREACHED_RATES,
    }
    return Peer(name, [program, *command[1:]], ROOT, "", environment, database="contentapi", credentials=CREDENTIALS)


def django(name: str, module: str, *, server: str = "gunicorn", kit: str = "python") -> Peer:
    folder = PEERS / "django"
    options = GUNICORN if server == "gunicorn" else GRANIAN
    environment = {
        "BENCH_PEER": module,
        "DJANGO_SETTINGS_MODULE": "settings",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(folder),
    }
    return Peer(name, [str(python_of(kit) / server), *options, "wsgi:application"], folder, kit, environment)


def node(name: str, dialect: Dialect | None = None, program: str = "node") -> Peer:
    environment = {"NODE_ENV": "production", "GRAPHILE_ENV": "production", "TZ": "UTC"}
    return Peer(name, [program, f"{name}.mjs"], NODE, "node", environment, dialect=dialect or Dialect())


OURS, OURS_GUNICORN = "ours", "ours-gunicorn"
REFERENCE = "ariadne"  # the most usual implementation: the responses of all servers must equal its responses
PEERS_BY_NAME = {
    peer.name: peer
    for peer in (
        ours(OURS, "python", "-m", "contentapi.server.granian"),  # as `make run`
        ours(
            OURS_GUNICORN, "gunicorn", "--config", "contentapi/server/gunicorn_conf.py", "contentapi.wsgi"
        ),  # as the Procfile
        django("floor-django", "peer_floor"),
        django("floor-django-granian", "peer_floor", server="granian"),
        django(REFERENCE, "peer_ariadne"),
        django("strawberry", "peer_strawberry"),
        django("graphene", "peer_graphene", kit="graphene"),
        node("mercurius"),
        node("mercurius-dataloader"),
        node("apollo"),
        node("yoga"),
        node("postgraphile", postgraphile.DIALECT),
        node("bun-jit", program=str(BUN)),
        node("node-jit"),
    )
}


class Server:
    """The process of a peer that connects to PostgreSQL over one transport."""

    def __init__(
        self, peer: Peer, database: Database, headers: Mapping[str, tuple[str, str]], transport: str = SOCKET
    ) -> None:
        """Take a header and its value for each kind of credential."""
        self.peer, self.database, self.transport, self._headers = peer, database, transport, headers
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/graphql"
        self.sizes: dict[tuple[str, str], int] = {}  # bytes of a response, by workload and condition
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def name(self) -> str:
        return self.peer.name

    @property
    def pid(self) -> int:
        if self._process is None:
            raise RuntimeError(f"{self.name} has not been started")
        return self._process.pid

    def credential_for(self, workload: str) -> tuple[str, str] | None:
        """Return the name and value of the credential header that a workload's requests carry."""
        kind = self.peer.credentials.get(workload)
        return self._headers[kind] if kind else None

    def start(self) -> None:
        log = LOGS / f"{self.name}-{self.transport}.log"
        if self.peer.is_ours:
            database = our_environment(self.database, self.transport)
        else:
            database = {"DATABASE_URL": self.database.url_over(self.transport)}
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [word.replace("{port}", str(self.port)) for word in self.peer.command],
                cwd=self.peer.folder,
                env=clean_environment() | database | self.peer.environment | {"PORT": str(self.port)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CORE}),
            )
        try:
            self.wait()
        except TimeoutError as error:
            end = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
            sys.exit(f"{self.name} does not start: {error}. The end of its log:\n{end}")

    def wait(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if self._process is not None and self._process.poll() is not None:
                raise TimeoutError(f"it ended with {self._process.returncode}")
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 0.3):
                return
            time.sleep(0.1)
        raise TimeoutError(f"nothing listens on its port after {PATIENCE} seconds")

    def stop(self) -> None:
        if self._process is None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)  # the process has its own session
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(8)
        self._process = None
