"""Metrics and log lines of real servers, compared with what their clients count."""

import json
import signal
from collections import Counter, defaultdict
from http.client import HTTPConnection
from threading import Thread
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.deployment.live_server import LiveServer, Site
from tests.deployment.ports import find_free_port
from tests.deployment.processes import wait_until

pytestmark = pytest.mark.servers

JSON_TYPE = {"Content-Type": "application/json"}
ROUNDS = 25
THREADS = 8
Metrics = dict[str, dict[tuple[str, ...], float]]


class Client:
    """Sends requests on one connection, and counts the responses by method, operation and status, and their bytes."""

    def __init__(self, server: LiveServer, number: int) -> None:
        self.server = server
        self.number = number
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self.bytes = 0

    def work(self) -> None:
        connection = HTTPConnection("localhost", self.server.port, timeout=60)  # reconnects when it is closed
        for round_number in range(ROUNDS):
            name = f"Operation{self.number}x{round_number}"  # a name of its own for each request
            query = json.dumps({"query": f"query {name} {{ posts(limit: 1) {{ id }} }}"})
            broken = json.dumps({"query": f"query {name} {{ posts"})
            for method, path, body, operation in (
                ("POST", "/graphql", query, "query posts"),
                ("POST", "/graphql", broken, "/graphql"),
                ("GET", f"/posts/{round_number + 10_000}", None, "/posts/{post_id}"),
                ("GET", f"/nowhere/{name}", None, "other"),
                ("GET", "/healthz", None, ""),
            ):
                connection.request(method, path, body, JSON_TYPE if body else {})
                response = connection.getresponse()
                content = response.read()
                if operation:
                    self.counts[method, operation, str(response.status)] += 1
                    self.bytes += len(content)
        connection.close()


def read_metrics(address: str) -> Metrics:
    """Return the values of each metric by the values of its labels."""
    with urlopen(f"http://{address}/metrics", timeout=60) as response:
        text = response.read().decode()
    metrics: Metrics = defaultdict(dict)
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            metrics[sample.name][tuple(sample.labels.values())] = sample.value
    return metrics


def send_requests_while_workers_are_replaced(server: LiveServer) -> list[Client]:
    """Send requests in several threads while the server replaces its workers. Return the clients with their counts."""
    clients = [Client(server, number) for number in range(THREADS)]
    threads = [Thread(target=client.work) for client in clients]
    for thread in threads:
        thread.start()
    server.process.send_signal(signal.SIGHUP)
    for thread in threads:
        thread.join()
    return clients


def test_metrics_equal_the_counts_of_the_clients_after_workers_were_replaced(site: Site) -> None:
    address = f"127.0.0.1:{find_free_port()}"
    variables = {"CONTENTAPI_METRICS_BIND": address, "WEB_CONCURRENCY": "2"}
    with site.serve("granian", **variables) as server:
        # A process writes its figures once a second.
        wait_until(lambda: sum(read_metrics(address)["contentapi_requests_total"].values()) == 1, "the first figures")
        before = read_metrics(address)
        first = set(server.workers)

        clients = send_requests_while_workers_are_replaced(server)

        counted = sum((client.counts for client in clients), Counter[tuple[str, str, str]]())
        assert set(counted.values()) == {ROUNDS * THREADS}
        wait_until(lambda: first.isdisjoint(server.workers), "the end of the first workers")
        wait_until(lambda: read_metrics(address)["contentapi_processes"] == {("server",): 2}, "the end of old workers")
        wait_until(lambda: count_requests(address, before) == counted.total(), "the last figures")
        metrics = read_metrics(address)
        assert subtract(metrics, before, "contentapi_requests_total") == counted
        sizes = subtract(metrics, before, "contentapi_response_bytes_total")
        assert sizes.total() == sum(client.bytes for client in clients)
        assert subtract(metrics, before, "contentapi_request_duration_seconds_count").total() == counted.total()
        statements = subtract(metrics, before, "contentapi_statement_duration_seconds_count").total()
        assert 0 < statements <= 2 * counted.total()
        assert metrics["contentapi_slots_in_use"][()] == metrics["contentapi_slots_waiting"][()] == 0


def count_requests(address: str, before: Metrics) -> float:
    return subtract(read_metrics(address), before, "contentapi_requests_total").total()


def subtract(metrics: Metrics, before: Metrics, name: str) -> Counter[tuple[str, ...]]:
    """Return the increase of a counter, without the labels for which it did not increase."""
    increase = {labels: int(value - before[name].get(labels, 0)) for labels, value in metrics[name].items()}
    return Counter({labels: value for labels, value in increase.items() if value})
