"""A cluster under Patroni on hosts of a network of its own: three with PostgreSQL, three with etcd, two with the API.

Each of those with the API runs a worker too.
PostgreSQL, Patroni, etcd and HAProxy run with the files of deploy/patroni. What differs are addresses, folders and
passwords. Everything is removed at the end; with CONTENTAPI_DRILL_KEEP=on, logs and data stay.
"""

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from benchmarks.install import install_python
from benchmarks.places import ROOT
from benchmarks.scale.clients import CREATED
from benchmarks.scale.deployment import delay_signals, find_haproxy
from benchmarks.scale.network import Network
from benchmarks.scale.patroni import Member, build_environment, read_cluster, read_example, write_configuration
from benchmarks.scale.webhooks import METRICS_PORT, TYPES, Inbox, count_relayed
from contentapi.db.embedded.programs import get_or_create_server_account, grant_server_account_access
from tests.deployment.hosts import Host
from tests.deployment.processes import start_process

DATABASES, ETCDS, APIS, CACHE = ("db1", "db2", "db3"), ("etcd1", "etcd2", "etcd3"), ("api1", "api2"), "cache"
PATRONI = ROOT / "var" / "scale" / "patroni"
REQUIREMENTS = ROOT / "deploy" / "patroni" / "requirements.txt"
PATIENCE = 180  # seconds; the machine may be busy
ROLE = DATABASE = "contentapi"
PORT = 8000
COPIED = "replica has been created using basebackup"  # in the log of Patroni


class Cluster:
    """All hosts. `route` says how the API finds the primary: by three `addresses`, or by `haproxy` on its own host."""

    def __init__(self, route: str) -> None:
        self.route = route
        self.folder = Path(tempfile.mkdtemp(prefix="contentapi-cluster-"))
        self.network = Network([*DATABASES, *ETCDS, *APIS, CACHE], APIS)
        self.address = self.network.get_address
        self.passwords = {
            name: secrets.token_hex(12) for name in ("restapi", "superuser", "replication", "rewind", "app")
        }
        self.apis: dict[str, Host] = {}
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        self.stack = ExitStack()
        self.key = ""

    def start(self) -> None:
        """Start everything. Returns when all replicas stream, and the API serves the demo."""
        if os.geteuid() != 0:
            raise SystemExit("The faults need root, for the network of the hosts. PARTS=reads does not.")
        install_python(PATRONI, REQUIREMENTS)
        for used in (self.folder / "data", PATRONI / "bin", Path(sys.base_prefix) / "bin"):
            grant_server_account_access(used)
        self.network.create()
        for host in ETCDS:
            self.start_etcd(host)
        for host in DATABASES:
            self.start_patroni(host)
            self.wait_until(lambda: any(each.is_leader for each in self.list_members()))
        self.wait_until_whole()
        self.create_database()
        redis = [shutil.which("redis-server") or "redis-server", "--bind", self.address(CACHE), "--port", "6379"]
        self.spawn(CACHE, "redis", [*redis, "--save", "", "--protected-mode", "no", "--dir", "/"])
        self.inbox = Inbox(self.network.get_own_client_address())
        self.stack.enter_context(self.inbox.receiver)
        for host in APIS:
            self.start_api(host)
            self.start_worker(host)
        for url in self.inbox.urls:
            content = {"url": url, "types": TYPES, "name": "scale"}
            created = self.apis[APIS[0]].request("POST", "/webhooks", content, X_API_Key=self.key)
            if created.status != CREATED:
                raise RuntimeError(f"POST /webhooks: status {created.status} {created.body}")

    def close(self) -> None:
        """Kill everything, and remove it."""
        with delay_signals():
            self.stack.close()
            self.network.delete()
        if os.environ.get("CONTENTAPI_DRILL_KEEP") == "on":
            print(f"Logs and data are in {self.folder}.")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    # --- Programs

    def spawn(
        self, host: str, name: str, command: Sequence[str], variables: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[bytes]":
        """Run a program on a host. Its log is NAME.log."""
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", **(variables or {})}
        return start_process([*self.network.enter(host), *command], self.folder / f"{name}.log", environment, cwd="/")

    def start_etcd(self, host: str) -> None:
        own = {name: self.address(name) for name in ETCDS}
        variables = read_example("etcd.env.example", {
            "ETCD_NAME": host,
            "ETCD_DATA_DIR": str(self.folder / "data" / host),
            "ETCD_LISTEN_PEER_URLS": f"http://{own[host]}:2380",
            "ETCD_LISTEN_CLIENT_URLS": f"http://{own[host]}:2379,http://127.0.0.1:2379",
            "ETCD_INITIAL_ADVERTISE_PEER_URLS": f"http://{own[host]}:2380",
            "ETCD_ADVERTISE_CLIENT_URLS": f"http://{own[host]}:2379",
            "ETCD_INITIAL_CLUSTER": ",".join(f"{name}=http://{address}:2380" for name, address in own.items()),
        })  # fmt: skip
        program = shutil.which("etcd")
        if program is None:
            raise SystemExit("etcd is not installed (Debian: apt-get install etcd-server).")
        self.spawn(host, host, [program], variables)

    def build_patroni_environment(self, host: str) -> dict[str, str]:
        etcds = [f"{self.address(each)}:2379" for each in ETCDS]
        return build_environment(host, self.address(host), etcds, self.folder, self.passwords)

    def start_patroni(self, host: str) -> None:
        """Start Patroni, which starts PostgreSQL: as the first host of a cluster, as a replica, or again."""
        account, group = get_or_create_server_account()
        data = self.folder / "data" / host
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.chown(data, account, group)
        # In a process namespace, Patroni has the part of `init`: it notices at once that a process has ended.
        command = ["unshare", "--pid", "--fork", "--mount-proc", *build_change_of_account("pgserver")]
        command += [str(PATRONI / "bin" / "patroni"), str(write_configuration(host, self.folder))]
        self.spawn(host, host, command, self.build_patroni_environment(host))

    def stop_patroni(self, host: str) -> None:
        """End Patroni, which ends PostgreSQL and hands over the lease."""
        for process in self.network.list_processes(host):
            status = Path(f"/proc/{process}/status").read_text()
            if re.search(r"^NSpid:\s+\d+\s+1$", status, re.MULTILINE):  # Patroni, the first of its process namespace
                os.kill(process, signal.SIGTERM)
        self.wait_until(lambda: not self.network.list_processes(host))

    def control(self, *arguments: str) -> str:
        """Run `patronictl` on the first host that responds. Returns its output."""
        host = next(each.name for each in self.list_members())
        command = [str(PATRONI / "bin" / "patronictl"), "-c", str(self.folder / f"{host}.yaml"), *arguments]
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **self.build_patroni_environment(host)}
        done = subprocess.run(
            [*self.network.enter(host), *command], env=environment, capture_output=True, text=True, check=False,
            timeout=PATIENCE,
        )  # fmt: skip
        if done.returncode != 0:
            raise RuntimeError(f"patronictl {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout

    def start_api(self, host: str) -> None:
        login, address = f"{ROLE}:{self.passwords['app']}", self.network.get_client_address(host)
        places = [f"{self.address(each)}:5432" for each in DATABASES]
        primary = "127.0.0.1:5000" if self.route == "haproxy" else ",".join(places)
        if self.route == "haproxy":
            self.start_haproxy(host)
        variables = {
            "DATABASE_URL": f"postgresql://{login}@{primary}/{DATABASE}",
            "DATABASE_REPLICA_URLS": ",".join(f"postgresql://{login}@{place}/{DATABASE}" for place in places),
            "REDIS_URL": f"redis://{self.address(CACHE)}:6379/0",
            "ALLOWED_HOSTS": address,
            "CONTENTAPI_MEDIA": str(self.folder / "media"),
            "CONTENTAPI_WEBHOOK_NETWORKS": self.network.get_own_client_address(),
        }
        log, enter = self.folder / f"{host}.log", self.network.enter(host)
        api = self.apis[host] = Host(log, variables, port=PORT, address=address, enter=enter)
        if not self.key:
            for command in ("migrate", "load_demo"):
                api.manage(command)
            self.key = api.manage("create_api_key", "admin@example.com", "--name", "scale")
        api.start()

    def start_worker(self, host: str) -> None:
        """Start the worker on a host with the API."""
        metrics = f"{self.network.get_client_address(host)}:{METRICS_PORT}"
        variables = {**self.apis[host].environment, "CONTENTAPI_METRICS_BIND": metrics}
        command = [sys.executable, str(ROOT / "manage.py"), "worker"]
        self.workers[host] = self.spawn(host, f"worker-{host}", command, variables)

    def kill_worker(self, host: str) -> None:
        self.workers[host].kill()
        self.workers[host].wait()

    def start_haproxy(self, host: str) -> None:
        text = (ROOT / "deploy" / "patroni" / "haproxy.cfg").read_text()
        for number, each in enumerate(DATABASES, 11):
            text = text.replace(f"10.0.0.{number}:", f"{self.address(each)}:")
        configuration = self.folder / f"haproxy-{host}.cfg"
        configuration.write_text(text)
        self.spawn(host, f"haproxy-{host}", [find_haproxy(), "-db", "-f", str(configuration)])

    # --- State

    def list_members(self) -> list[Member]:
        """Return the members as the first Patroni that responds sees them."""
        for host in DATABASES:
            if members := read_cluster(self.address(host)):
                return members
        return []

    def find(self, role: str) -> str:
        """Return the name of the first member with a role: `leader`, `sync_standby` or `replica`."""
        return next(each.name for each in self.list_members() if each.role == role)

    def is_whole(self) -> bool:
        """Return whether there is a primary, a synchronous standby and a replica, all on one timeline."""
        members = self.list_members()
        roles = sorted(each.role for each in members)
        works = all(each.state == ("running" if each.is_leader else "streaming") for each in members)
        return (
            roles == ["leader", "replica", "sync_standby"] and works and len({each.timeline for each in members}) == 1
        )

    def wait_until_whole(self) -> None:
        self.wait_until(self.is_whole)

    def wait_until(self, condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                ends = "".join(f"\n{log.name}: {log.read_text()[-1000:]}" for log in sorted(self.folder.glob("*.log")))
                raise RuntimeError(f"The cluster is not as it should be: {self.list_members()}. Logs: {ends}")
            time.sleep(0.2)

    def connect(self, database: str) -> "psycopg.Connection[Any]":
        """Connect to the primary as superuser."""
        return psycopg.connect(
            host=self.address(self.find("leader")), dbname=database, user="postgres",
            password=self.passwords["superuser"], autocommit=True, connect_timeout=5,
        )  # fmt: skip

    def create_database(self) -> None:
        with self.connect("postgres") as connection:
            role, password = sql.Identifier(ROLE), sql.Literal(self.passwords["app"])
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(role, password))
            connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(DATABASE), role))

    def count_relayed(self) -> list[int]:
        """Return how many events the worker of each host has moved to the log since its start."""
        return [count_relayed(self.network.get_client_address(host)) for host in APIS]

    def count_copies(self, host: str) -> int:
        """Return how often a host has copied all data of another one. It does not, if `pg_rewind` suffices."""
        return (self.folder / f"{host}.log").read_text(errors="replace").count(COPIED)

    def signal_processes(self, host: str, name: str, number: int) -> None:
        """Send a signal to all processes of a host with a name: `postgres`, the main one first, or `patroni`."""
        for process in sorted(self.network.list_processes(host)):
            with suppress(OSError):
                if Path(f"/proc/{process}/comm").read_text().strip() == name:
                    os.kill(process, number)


def build_change_of_account(name: str) -> list[str]:
    """Return the beginning of a command that runs a program with an account and without other rights."""
    return ["setpriv", f"--reuid={name}", f"--regid={name}", "--clear-groups"]
