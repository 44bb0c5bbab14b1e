"""The servers that are compared, and how each is started: one process on one core."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import postgraphile
from benchmarks.conditions import ORIGIN
from benchmarks.database import Database, our_environment
from benchmarks.install import BUN, NODE, python_of
from benchmarks.places import LOGS, PEERS, ROOT, WORK, clean_environment
from benchmarks.postgres import SOCKET
from benchmarks.processes import SERVER_CORE
from benchmarks.workloads import Dialect
from tests.deployment.ports import find_free_port
from tests.deployment.processes import COMMANDS, UNREACHED_RATES, start_process, stop_process, wait_until_listening

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
    kit: str = ""  # the packages that it needs: "python", "graphene", "node", or those of a commit
    environment: dict[str, str] = field(default_factory=dict)
    database: str = "bench"
    credentials: Mapping[str, str] = field(default_factory=dict)  # by workload
    dialect: Dialect = field(default_factory=Dialect)

    @property
    def is_ours(self) -> bool:
        return self.database.startswith("contentapi")

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


def ours(name: str, server: str, commit: str = "") -> Peer:
    """Return this server, or as it was at a commit, with its own packages and its own database."""
    environment = {
        "CONTENTAPI_BIND": "127.0.0.1",
        "CORS_ALLOWED_ORIGINS": ORIGIN,
        "WEB_CONCURRENCY": "1",
        "CONTENTAPI_LOG_SAMPLE": "0",  # the others log no requests either
        **UNREACHED_RATES,  # requests are charged as usual
    }
    if not commit:
        return Peer(name, COMMANDS[server], ROOT, "", environment, database="contentapi", credentials=CREDENTIALS)
    command, database = [str(python_of(name) / "python"), *COMMANDS[server][1:]], f"contentapi_{commit}"
    return Peer(name, command, WORK / name, name, environment, database=database, credentials=CREDENTIALS)


def find_peer(name: str) -> Peer | None:
    """Return a peer by its name, or None. `ours@06a75a9` is this server at a commit, which joins the others."""
    _, is_commit, commit = name.partition(f"{OURS}@")
    if is_commit and commit.isalnum():
        PEERS_BY_NAME.setdefault(name, ours(name, "granian", commit))
    return PEERS_BY_NAME.get(name)


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
BASELINE = "ours@06a75a9"  # ratios to it depend less on the machine than ratios to other servers
REFERENCE = "ariadne"  # the most usual implementation: the responses of all servers must equal its responses
PEERS_BY_NAME = {
    peer.name: peer
    for peer in (
        ours(OURS, "granian"),  # as `make run`
        ours(OURS_GUNICORN, "gunicorn"),  # as the Procfile
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
        self.port = find_free_port()
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
        log.unlink(missing_ok=True)
        self._process = start_process(
            [word.replace("{port}", str(self.port)) for word in self.peer.command],
            log,
            clean_environment() | database | self.peer.environment | {"PORT": str(self.port)},
            cwd=self.peer.folder,
            preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CORE}),
        )
        try:
            wait_until_listening(self._process, self.port, log)
        except RuntimeError as error:
            sys.exit(f"{self.name}: {error}")

    def stop(self) -> None:
        if self._process is not None:
            stop_process(self._process)
            self._process = None
