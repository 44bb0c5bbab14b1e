"""`python -m benchmarks.metrics_cost [granian|gunicorn]`: measure what metrics cost a server, over HTTP.

Two servers with one worker each use the same database; one of them counts. One client sends `post` to them in turn, in
short blocks, so that a slow moment of the machine hits both. Prints the CPU time of the worker for each request,
without that of PostgreSQL and the client, and the median ratio of the pairs.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from http.client import HTTPConnection
from statistics import median, quantiles

from benchmarks.different import COMMANDS, PATIENCE, find_worker
from benchmarks.places import ROOT, WORK
from benchmarks.postgres import free_port

PAIRS = 60
BLOCK = 1000  # requests
QUERY = "{ posts(limit: 1) { id } }"
POST = "query ($id: ID!) { post(id: $id) { title body status author { name } } }"
JSON_TYPE = {"Content-Type": "application/json"}


class Server:
    """A server with one worker, which serves metrics if `counts`."""

    def __init__(self, kind: str, environment: dict[str, str], *, counts: bool) -> None:
        self.port = free_port()
        address = {"CONTENTAPI_METRICS_BIND": f"127.0.0.1:{free_port()}"} if counts else {}
        self.process = subprocess.Popen(
            [sys.executable, *COMMANDS[kind]],
            cwd=ROOT,
            env=environment | address | {"PORT": str(self.port)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + PATIENCE
        while not is_listening(self.port):
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"{kind} does not start")
            time.sleep(0.1)
        self.worker = find_worker(self.process)
        self.connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def send(self, query: str, **variables: str) -> dict[str, list[dict[str, str]]]:
        body = json.dumps({"query": query, "variables": variables})
        self.connection.request("POST", "/graphql", body, JSON_TYPE)
        response = self.connection.getresponse()
        members = json.loads(response.read())
        if "data" not in members:
            sys.exit(f"{response.status}: {members}")
        data: dict[str, list[dict[str, str]]] = members["data"]
        return data

    def measure_block(self, post_id: str) -> float:
        """Return the CPU time of the worker for each request of a block, in milliseconds."""
        before = self.worker.cpu_times()
        for _ in range(BLOCK):
            self.send(POST, id=post_id)
        after = self.worker.cpu_times()
        return (after.user + after.system - before.user - before.system) * 1000 / BLOCK

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("server", choices=COMMANDS, nargs="?", default="granian")
    kind = parser.parse_args().server
    unreached = {f"CONTENTAPI_RATE_{name}": "999999999/minute" for name in ("ANONYMOUS", "AUTHENTICATED", "WRITES")}
    own = {"CONTENTAPI_LOG_SAMPLE": "0", "CONTENTAPI_VAR": str(WORK / "monitoring"), "WEB_CONCURRENCY": "1"}
    environment = os.environ | unreached | own
    for command in (["migrate", "--noinput"], ["load_demo"]):
        subprocess.run(
            [sys.executable, "manage.py", *command], cwd=ROOT, env=environment, check=True, capture_output=True
        )
    silent, counting = (Server(kind, environment, counts=counts) for counts in (False, True))
    try:
        post_id = silent.send(QUERY)["posts"][0]["id"]
        plain, ratios = measure_pairs(silent, counting, post_id)
    finally:
        silent.end()
        counting.end()
    low, _, high = quantiles(ratios, n=4)
    print("| Server | CPU ms | with metrics | quartiles |\n|---|--:|--:|---|")
    print(f"| {kind} | {median(plain):.4f} | {median(ratios):.3f} | {low:.3f} to {high:.3f} |")


def measure_pairs(silent: Server, counting: Server, post_id: str) -> tuple[list[float], list[float]]:
    """Return the CPU times without metrics, and the ratios with them to these. The first pairs warm up."""
    plain: list[float] = []
    ratios: list[float] = []
    for number in range(-3, PAIRS):
        pair = (silent, counting) if number % 2 else (counting, silent)
        cost = {server: server.measure_block(post_id) for server in pair}
        if number >= 0:
            plain.append(cost[silent])
            ratios.append(cost[counting] / cost[silent])
    return plain, ratios


def is_listening(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", "/healthz")
        connection.getresponse().read()
    except OSError:
        return False
    finally:
        connection.close()
    return True


if __name__ == "__main__":
    main()
