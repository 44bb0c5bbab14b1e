"""The deployment of the drill: PostgreSQL, Redis, the server, the background worker and the process of the streams.

Each is started again when it ends.
"""

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil

from benchmarks.drill.database import Postgres
from benchmarks.drill.load import Client
from benchmarks.drill.network import Network, can_cut_networks
from benchmarks.drill.supervisor import MARK, Service, kill_marked_processes
from benchmarks.places import ROOT, clean_environment
from tests.deployment.ports import find_free_port
from tests.deployment.processes import COMMANDS, UNREACHED_RATES

WORKERS = 2
THREADS = 8
DISK = "320m"
PATIENCE = 90  # seconds for the start of the server


class Stack:
    """All processes of the drill. As root it has a network and a file system of its own, to cut and to fill."""

    def __init__(self, server: str) -> None:
        self.server_name = server
        self.mark = secrets.token_hex(8)
        self.folder = Path(tempfile.mkdtemp(prefix="contentapi-drill-"))
        self.logs = self.folder / "logs"
        self.disk = self.folder / "disk"
        self.network = Network(os.getpid() % 10_000) if can_cut_networks() else None
        self.port, self.stream_port = find_free_port(), find_free_port()
        redis_port = find_free_port()
        own = {MARK: self.mark}
        ports = (find_free_port(), find_free_port())
        bases = {"LC_ALL": "C", "PATH": os.environ["PATH"], **own}
        self.primary = Postgres("primary", self.disk, ports[0], self.network, bases, self.logs)
        self.replica = Postgres("replica", self.disk, ports[1], self.network, bases, self.logs)
        hosts = ",".join(f"{each.host}:{each.port}" for each in (self.primary, self.replica))
        secret = secrets.token_hex(40)
        self.environment = clean_environment() | own | UNREACHED_RATES | {
            "DATABASE_URL": f"postgresql://postgres@{hosts}/postgres?target_session_attrs=read-write",
            "REDIS_URL": f"redis://127.0.0.1:{redis_port}/0",
            "SECRET_KEY": secret,
            "JWT_SECRET": secret,
            "PORT": str(self.port),
            "CONTENTAPI_BIND": "127.0.0.1",
            "CONTENTAPI_STREAM_PORT": str(self.stream_port),
            "CONTENTAPI_VAR": str(self.folder / "var"),
            "CONTENTAPI_THREADS": str(THREADS),
            "WEB_CONCURRENCY": str(WORKERS),
            "CONTENTAPI_WEBHOOK_NETWORKS": "127.0.0.0/8",
            "PYTHONUNBUFFERED": "1",
        }  # fmt: skip
        redis = [shutil.which("redis-server") or "redis-server", "--port", str(redis_port), "--save", "", "--dir", "/"]
        self.redis = Service("redis", [*redis, "--bind", "127.0.0.1"], bases, self.logs)
        self.server = Service("server", COMMANDS[server], self.environment, self.logs)
        self.background = Service("background", COMMANDS["worker"], self.environment, self.logs)
        self.stream = Service("stream", COMMANDS["stream"], self.environment, self.logs)
        self.key = self.post_id = ""
        self.database = self.primary  # the one that accepts writes

    def start(self) -> None:
        for folder in (self.logs, self.disk, self.folder / "var"):
            folder.mkdir()
        self.folder.chmod(0o755)
        if self.network:
            self.network.create()
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "drill", self.disk], check=True)  # noqa: S607
            self.disk.chmod(0o755)
        self.primary.create()
        self.primary.service.start()
        self.redis.start()
        self.primary.wait_until_ready()
        for command in ("migrate", "load_demo"):
            self.run("manage.py", command)
        self.key = (self.folder / "var" / "demo_api_key").read_text().strip()
        self.post_id = str(self.primary.query("SELECT min(id) FROM blog_post WHERE status = 'published'"))
        self.server.start()
        self.background.start()
        self.stream.start()
        self.wait_until_serving()

    def run(self, *arguments: str) -> str:
        """Run Python as an operator does. Return its standard output. Raises `RuntimeError`."""
        command = [sys.executable, *arguments]
        done = subprocess.run(command, check=False, cwd=ROOT, env=self.environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(arguments)} failed: {(done.stdout + done.stderr).strip()[-2000:]}")
        return done.stdout

    def wait_until_serving(self) -> None:
        client, deadline = Client(self.port, self.key), time.monotonic() + PATIENCE
        while client.send("GET", f"/posts/{self.post_id}").status != 200:
            if time.monotonic() > deadline:
                raise RuntimeError(f"The server does not start. The end of its log:\n{self.read_end_of_log()}")
            time.sleep(0.1)
        client.close()

    def read_end_of_log(self) -> str:
        with suppress(OSError):
            return "\n".join(self.server.log.read_text(errors="replace").splitlines()[-15:])
        return ""

    def find_workers(self) -> list[psutil.Process]:
        """Return the worker processes: those of the children that have connections to PostgreSQL or to clients."""
        found = []
        for process in self.server.children():
            with suppress(psutil.Error):
                command = " ".join(process.cmdline())
                if "resource_tracker" not in command and process.memory_info().rss > 40_000_000:
                    found.append(process)
        return found

    def measure_memory(self) -> int:
        """Return the resident memory of the largest worker in bytes."""
        sizes = [0]
        for process in self.find_workers():
            with suppress(psutil.Error):
                sizes.append(process.memory_info().rss)
        return max(sizes)

    def stop(self) -> None:
        """Stop what this drill started, and remove its files, its network and its file system."""
        services = (self.stream, self.background, self.server, self.redis, self.primary.service, self.replica.service)
        for service in services:
            service.stop()
        kill_marked_processes(self.mark)
        if self.network:
            subprocess.run(["umount", "--lazy", self.disk], check=False, capture_output=True)  # noqa: S607
            self.network.delete()
        if os.environ.get("CONTENTAPI_DRILL_KEEP") != "on":
            shutil.rmtree(self.folder, ignore_errors=True)
