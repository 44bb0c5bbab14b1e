"""A database that begins on one PostgreSQL and moves to Citus, and two hosts with the API, on this machine.

The nodes are PostgreSQL servers of the host, whose PostgreSQL has the extension (see docs/operations/cluster.md).
Everything is in a temporary folder, which is removed at the end. With CONTENTAPI_DRILL_KEEP=on, it stays. A folder that
is named stays too, and the next run continues there.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.places import ROOT
from benchmarks.processes import running_seconds
from benchmarks.scale.deployment import delay_signals
from tests.citus.cluster import CitusNode, find_programs
from tests.deployment.hosts import Host
from tests.deployment.ports import find_free_port

PATIENCE = 600  # seconds, for a condition
HOSTS = ("127.0.0.1", "127.0.0.2")  # of the API
COORDINATOR = "coordinator"
SETTINGS = {
    "fsync": "on",
    "wal_level": "logical",  # shards move by logical replication
    "max_prepared_transactions": "200",  # Citus commits in two phases
    "max_worker_processes": "16",
    "max_connections": "150",
    "max_wal_size": "2GB",
    "maintenance_work_mem": "512MB",  # for the index of search
    "shared_buffers": "256MB",
    "shared_preload_libraries": "citus,pg_stat_statements",
    "random_page_cost": "1.1",
    "max_parallel_workers_per_gather": "0",
}
IS_WORKER = "isactive AND shouldhaveshards AND noderole = 'primary'"
COUNT_STATEMENTS = "SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements WHERE query !~ 'pg_stat|wait_edges'"


class Cluster:
    """The nodes by name, the first of which is the coordinator, and the hosts with the API by address."""

    def __init__(self, folder: Path | None = None, **settings: str) -> None:
        if find_programs() is None:
            raise SystemExit("No PostgreSQL of this host has Citus: see docs/operations/cluster.md.")
        self.settings = {**SETTINGS, **settings}
        self.is_kept = folder is not None or os.environ.get("CONTENTAPI_DRILL_KEEP") == "on"
        self.folder = folder or Path(tempfile.mkdtemp(prefix="contentapi-citus-"))
        self.folder.mkdir(exist_ok=True)
        self.folder.chmod(0o755)
        self.nodes: dict[str, CitusNode] = {}
        self.hosts: dict[str, Host] = {}
        self.port = find_free_port()
        self.is_distributed = False
        self.key = ""
        self.results: Any = None

    def close(self) -> None:
        """Stop everything, and remove it unless it is kept."""
        with delay_signals():
            self.stop_hosts()
            self.save(self.results)
            for node in self.nodes.values():
                (node.stop if self.is_kept else node.remove)()
            if self.is_kept:
                print(f"Logs and data are in {self.folder}.")
            else:
                shutil.rmtree(self.folder, ignore_errors=True)

    # --- A folder that is kept

    @property
    def state_file(self) -> Path:
        return self.folder / "state.json"

    def save(self, results: Any) -> None:
        """Write down what the next run in this folder needs: the nodes, and the results until now."""
        self.results = results
        ports = {name: node.port for name, node in self.nodes.items()}
        state = {"ports": ports, "key": self.key, "is_distributed": self.is_distributed, "results": results}
        self.state_file.write_text(json.dumps(state, indent=2))

    def restart(self) -> Any:
        """Start the nodes that an earlier run has left. Returns its results, or None if there was no earlier run."""
        if not self.state_file.exists():
            return None
        state = json.loads(self.state_file.read_text())
        self.key, self.is_distributed, self.results = state["key"], state["is_distributed"], state["results"]
        for name, port in state["ports"].items():
            self.nodes[name] = CitusNode(self.folder / name, port, **self.settings)
            self.nodes[name].start()
        return self.results

    # --- What operators do

    @property
    def coordinator(self) -> CitusNode:
        return self.nodes[COORDINATOR]

    def start_node(self, name: str) -> CitusNode:
        """Start a PostgreSQL server with an empty database."""
        node = self.nodes[name] = CitusNode(self.folder / name, **self.settings)
        node.create()
        node.execute("CREATE EXTENSION pg_stat_statements")
        return node

    def create_content_database(self) -> None:
        """Start the first PostgreSQL server, and migrate it. Creates the demo and a key of an editor."""
        self.start_node(COORDINATOR)
        for command in ("migrate", "load_demo"):
            self.manage(command)
        self.key = self.manage("create_api_key", "admin@example.com", "--name", "citus")

    def become_coordinator(self) -> None:
        """Make the first PostgreSQL server, with its content, the coordinator of a cluster without workers."""
        self.coordinator.execute("CREATE EXTENSION IF NOT EXISTS citus")
        self.coordinator.execute(f"SELECT citus_set_coordinator_host('127.0.0.1', {self.coordinator.port})")

    def add_worker(self) -> str:
        """Start another worker, and add it. It has no shards yet. Returns its name."""
        name = f"worker{len(self.nodes)}"
        self.start_node(name).execute("CREATE EXTENSION citus")
        self.coordinator.add_worker(self.nodes[name])
        return name

    def distribute(self, shards: int) -> None:
        """Distribute the content, or bring a new worker to the state of the others."""
        self.is_distributed = True
        self.manage("distribute", "--shards", str(shards), is_shown=True)

    def rebalance(self) -> int:
        """Move shards until each worker has as many as the others. Returns the number of moves."""
        [(job,)] = self.coordinator.execute("SELECT citus_rebalance_start()")
        if job is None:
            return 0
        self.coordinator.execute(f"SELECT citus_job_wait({job})")
        tasks = self.coordinator.execute(
            "SELECT status::text, message, command LIKE '%move_shard%' FROM pg_dist_background_task"
            f" WHERE job_id = {job}"
        )
        if failed := [message for status, message, _ in tasks if status != "done"]:
            raise RuntimeError(f"Shards were not moved: {failed}")
        return sum(is_move for _, _, is_move in tasks)

    def recover(self) -> int:
        """Finish the transactions that are prepared. Returns the number of those that were finished by this call."""
        [(count,)] = self.coordinator.execute("SELECT recover_prepared_transactions()")
        return int(count)

    def count_prepared(self) -> int:
        """Count the prepared transactions of all nodes that run."""
        running = [node for node in self.nodes.values() if node.process is not None]
        return sum(node.execute("SELECT count(*) FROM pg_prepared_xacts")[0][0] for node in running)

    # --- The hosts with the API

    @property
    def variables(self) -> dict[str, str]:
        return {
            "DATABASE_URL": self.coordinator.build_url(),
            "CONTENTAPI_DISTRIBUTED": "citus" if self.is_distributed else "",
            "ALLOWED_HOSTS": ",".join(HOSTS),
            "CONTENTAPI_MEDIA": str(self.folder / "media"),
            "CONTENTAPI_VAR": str(self.folder / "var"),
        }

    def manage(self, *arguments: str, is_shown: bool = False) -> str:
        """Run a command of an operator. Returns its standard output, and with `is_shown` also prints it, with times."""
        environment = Host(self.folder / "manage.log", self.variables).environment
        command = [sys.executable, "-u", "manage.py", *arguments]
        began, lines = time.monotonic(), []
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout or ():
                lines.append(line)
                if is_shown:
                    print(f"{time.monotonic() - began:7.1f} s  {line.rstrip()}", file=sys.stderr, flush=True)
        if process.returncode != 0:
            raise RuntimeError(f"manage.py {' '.join(arguments)} failed.")
        return "".join(lines).strip()

    def start_hosts(self, addresses: Iterable[str] = HOSTS) -> None:
        for address in addresses:
            log = self.folder / f"host-{address}.log"
            self.hosts[address] = Host(log, self.variables, port=self.port, address=address)
        with ThreadPoolExecutor() as pool:
            list(pool.map(Host.start, self.hosts.values()))

    def stop_hosts(self) -> None:
        while self.hosts:
            self.hosts.popitem()[1].stop()

    # --- State

    def find_worker(self, table: str, value: str) -> str:
        """Return the name of the node that has the row of a value of the column of distribution."""
        [(port,)] = self.coordinator.execute(
            "SELECT nodeport FROM pg_dist_placement JOIN pg_dist_node USING (groupid)"
            f" WHERE shardid = get_shard_id_for_distribution_column('{table}', '{value}')"
        )
        return next(name for name, node in self.nodes.items() if node.port == port)

    def count_shards(self) -> dict[str, int]:
        """Return the number of shards of the posts on each worker."""
        found = dict(
            self.coordinator.execute(
                "SELECT nodeport, count(shardid) FROM pg_dist_node LEFT JOIN (pg_dist_placement JOIN pg_dist_shard"
                " USING (shardid)) ON pg_dist_placement.groupid = pg_dist_node.groupid"
                f" AND logicalrelid = 'blog_post'::regclass WHERE {IS_WORKER} GROUP BY nodeport"
            )
        )
        return {name: found[node.port] for name, node in self.nodes.items() if node.port in found}

    def count_posts(self, beginning: str) -> dict[str, int]:
        """Return the number of posts by title, of those whose title has this beginning."""
        query = "SELECT title, count(*) FROM blog_post WHERE starts_with(title, %s) GROUP BY title"
        with psycopg.connect(self.coordinator.build_url()) as connection:
            return dict(connection.execute(query, [beginning]).fetchall())

    def read_cpu(self) -> dict[str, float]:
        """Return the processor seconds of each node's processes until now, and of the hosts together as `hosts`."""
        processes = {name: node.process for name, node in self.nodes.items()}
        spent = {name: running_seconds(process.pid) for name, process in processes.items() if process}
        spent["hosts"] = sum(running_seconds(host.process.pid) for host in self.hosts.values() if host.process)
        return spent

    def count_statements(self) -> dict[str, int]:
        """Return the number of statements that each node has executed for its clients, other nodes among them."""
        return {name: int(node.execute(COUNT_STATEMENTS)[0][0]) for name, node in self.nodes.items()}


def wait_until(condition: Callable[[], Any], patience: float = PATIENCE) -> float:
    """Wait until a condition is true. Returns the seconds that it took. Raises `RuntimeError` if it stays false."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > patience:
            raise RuntimeError(f"{condition} is not true after {patience} s.")
        time.sleep(0.1)
    return time.monotonic() - began
