"""`python -m benchmarks.metrics_cost [granian|gunicorn]`: measure what metrics cost a server, over HTTP.

Two servers with one worker each use the same database; one of them counts. One client sends `post` to them in turn, in
short blocks, so that a slow moment of the machine hits both. Prints the CPU time of the worker for each request,
without that of PostgreSQL and the client, and the median ratio of the pairs.
"""

import argparse
import json
import sys
from http.client import HTTPConnection
from statistics import median, quantiles

from benchmarks.different import find_worker
from benchmarks.places import WORK
from tests.deployment.hosts import Host
from tests.deployment.ports import find_free_port
from tests.deployment.processes import PATIENCE, SERVERS

PAIRS = 60
BLOCK = 1000  # requests
QUERY = "{ posts(limit: 1) { id } }"
POST = "query ($id: ID!) { post(id: $id) { title body status author { name } } }"
JSON_TYPE = {"Content-Type": "application/json"}


class Server:
    """A server with one worker, which serves metrics if `counts`."""

    def __init__(self, kind: str, *, counts: bool) -> None:
        folder = WORK / "monitoring"
        folder.mkdir(parents=True, exist_ok=True)
        own = {"CONTENTAPI_LOG_SAMPLE": "0", "CONTENTAPI_VAR": str(folder)}
        address = {"CONTENTAPI_METRICS_BIND": f"127.0.0.1:{find_free_port()}"} if counts else {}
        self.host = Host(folder / "server.log", own | address, server=kind)

    def start(self) -> None:
        self.worker = find_worker(self.host.start())
        self.connection = HTTPConnection("127.0.0.1", self.host.port, timeout=PATIENCE)

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("server", choices=SERVERS, nargs="?", default="granian")
    kind = parser.parse_args().server
    silent, counting = (Server(kind, counts=counts) for counts in (False, True))
    for command in ("migrate", "load_demo"):
        silent.host.manage(command)
    try:
        silent.start()
        counting.start()
        post_id = silent.send(QUERY)["posts"][0]["id"]
        plain, ratios = measure_pairs(silent, counting, post_id)
    finally:
        silent.host.stop()
        counting.host.stop()
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


if __name__ == "__main__":
    main()
