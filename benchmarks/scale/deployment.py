"""Start and stop every part of the deployment. Its data are in a temporary folder, which is removed at the end."""

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.deployment.hosts import Host
from tests.deployment.pgbouncer import PgBouncer, find_pgbouncer
from tests.deployment.ports import find_free_port
from tests.deployment.postgresql import PostgresServer
from tests.deployment.processes import run_process
from tests.deployment.redis_server import RedisServer

# Durable, unlike the servers of the tests.
SETTINGS = {"fsync": "on", "shared_buffers": "128MB", "max_connections": "100"}
HAPROXY = """
global
    maxconn 1000
defaults
    mode http
    timeout connect 1s
    timeout client 30s
    timeout server 30s
    timeout http-keep-alive 4s
    option redispatch
    retries 2
frontend public
    bind 127.0.0.1:{port}
    default_backend hosts
backend hosts
    balance roundrobin
    option httpchk GET /healthz
    default-server inter 1s fall 2 rise 1
{servers}
"""


def find_haproxy() -> str:
    program = shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
    if program is None:
        raise SystemExit("haproxy is not installed (Debian: apt-get install haproxy).")
    return program


@contextmanager
def delay_signals() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait until the end of a block, so that it leaves nothing behind."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Deployment:
    """A primary, two replicas, Redis, and the hosts that are started for each measurement."""

    def __init__(self) -> None:
        self.stack = ExitStack()
        self.folder = Path(tempfile.mkdtemp(prefix="contentapi-scale-"))
        self.stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.folder.chmod(0o755)
        self.hosts: list[Host] = []
        self.serving = ExitStack()
        self.stack.callback(lambda: self.serving.close())
        self.pgbouncer: PgBouncer | None = None
        self.port = 0

    def close(self) -> None:
        """Stop everything."""
        with delay_signals():
            self.stack.close()

    def start_servers(self) -> None:
        """Start the database with the demo content, and Redis."""
        self.primary = PostgresServer(self.folder / "primary", settings=SETTINGS)
        self.stack.callback(self.primary.remove)
        self.primary.create()
        direct = Host(self.folder / "direct.log", {"DATABASE_URL": self.primary.build_url()})
        direct.manage("migrate")
        direct.manage("load_demo")
        self.key = direct.manage("create_api_key", "admin@example.com", "--name", "scale")
        self.token = direct.manage("issue_token", "admin@example.com", "--ttl", "86400")
        self.replicas: list[PostgresServer] = []
        for number in (1, 2):
            name = f"replica{number}"
            replica = PostgresServer(self.folder / name, settings={**SETTINGS, "cluster_name": name})
            self.stack.callback(replica.remove)
            self.replicas.append(replica.copy_from(self.primary))
        (self.folder / "redis").mkdir()
        self.redis = RedisServer(self.folder / "redis")
        self.stack.callback(self.redis.kill)

    def start_pool(self) -> bool:
        """Start PgBouncer in front of the primary. Returns whether there is one."""
        if find_pgbouncer() is None:
            return False
        self.pgbouncer = PgBouncer(self.folder / "pgbouncer", self.primary, pool=8)
        self.stack.callback(self.pgbouncer.stop)
        return True

    def serve(self, database_url: str, replicas: int) -> None:
        """Start two hosts, which read from this number of replicas, and haproxy in front of them."""
        self.serving.close()
        urls = ",".join(replica.build_url() for replica in self.replicas[:replicas])
        variables = {"DATABASE_URL": database_url, "DATABASE_REPLICA_URLS": urls, "REDIS_URL": self.redis.url}
        self.hosts = [Host(self.folder / f"host{number}.log", variables) for number in (1, 2)]
        for host in self.hosts:
            self.serving.callback(host.stop)
            host.start()
        self.port = find_free_port()
        servers = [f"    server host{number} 127.0.0.1:{host.port} check" for number, host in enumerate(self.hosts, 1)]
        configuration = self.folder / "haproxy.cfg"
        configuration.write_text(HAPROXY.format(port=self.port, servers="\n".join(servers)))
        command = [find_haproxy(), "-db", "-f", str(configuration)]
        self.serving.enter_context(run_process(command, self.folder / "haproxy.log", self.port, os.environ))
        time.sleep(2.5)  # until health checks have passed, and the replicas are in use
