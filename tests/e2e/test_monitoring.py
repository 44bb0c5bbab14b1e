"""Metrics and log lines of real servers, compared with what their clients count."""

import json
import re
import time
from collections import Counter
from http.client import HTTPConnection
from threading import Thread
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.e2e.checkout import Checkout, Run, free_port

pytestmark = [pytest.mark.processes, pytest.mark.slow]

JSON_TYPE = {"Content-Type": "application/json"}
ROUNDS = 25
THREADS = 8


class Client:
    """Sends requests on one connection, and counts the responses by method, operation and status, and their bytes."""

    def __init__(self, run: Run, number: int) -> None:
        self.run = run
        self.number = number
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self.bytes = 0

    def work(self) -> None:
        connection = HTTPConnection("localhost", int(self.run.port), timeout=30)  # reconnects when it is closed
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


def read_metrics(address: str) -> dict[str, dict[tuple[str, ...], float]]:
    """Return the values of each metric by the values of its labels."""
    with urlopen(f"http://{address}/metrics", timeout=10) as response:
        text = response.read().decode()
    metrics: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            metrics.setdefault(sample.name, {})[tuple(sample.labels.values())] = sample.value
    return metrics


def send_requests(run: Run) -> list[Client]:
    """Send requests in several threads. Return the clients with their counts."""
    clients = [Client(run, number) for number in range(THREADS)]
    threads = [Thread(target=client.work) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    time.sleep(1.5)  # a worker writes its figures once a second
    return clients


@pytest.mark.parametrize("server", ["granian", "gunicorn"])
def test_metrics_equal_the_counts_of_the_clients(checkout: Checkout, server: str) -> None:
    address = f"127.0.0.1:{free_port()}"
    variables = {"CONTENTAPI_METRICS_BIND": address, "CONTENTAPI_RATE_ANONYMOUS": "1000000/minute"}
    run = checkout.run(f"SERVER={server}", port=free_port(), **variables).wait_until_ready()
    clients = send_requests(run)

    metrics = read_metrics(address)

    counted = sum((client.counts for client in clients), Counter[tuple[str, str, str]]())
    assert metrics["contentapi_requests_total"] == counted
    assert set(counted.values()) == {ROUNDS * THREADS}
    assert sum(metrics["contentapi_response_bytes_total"].values()) == sum(client.bytes for client in clients)
    assert sum(metrics["contentapi_request_duration_seconds_count"].values()) == sum(counted.values())
    assert metrics["contentapi_processes"] == {("clock",): 1, ("worker",): 2}
    assert metrics["contentapi_slots_in_use"][()] == metrics["contentapi_slots_waiting"][()] == 0
    assert 0 < sum(metrics["contentapi_statement_duration_seconds_count"].values()) <= 2 * sum(counted.values())


@pytest.mark.parametrize("server", ["granian", "gunicorn"])
def test_metrics_keep_the_counts_of_replaced_workers(checkout: Checkout, server: str) -> None:
    address = f"127.0.0.1:{free_port()}"
    variables = {
        "CONTENTAPI_METRICS_BIND": address,
        "CONTENTAPI_RATE_ANONYMOUS": "1000000/minute",
        "CONTENTAPI_WORKER_MAX_REQUESTS": "200",
    }
    run = checkout.run(f"SERVER={server}", port=free_port(), **variables).wait_until_ready()
    deadline = time.monotonic() + 30
    while read_metrics(address)["contentapi_processes"].get(("worker",)) != 2 and time.monotonic() < deadline:
        time.sleep(0.2)  # gunicorn starts its workers one after the other
    workers = {process.pid for process in checkout.processes()}
    clients = send_requests(run) + send_requests(run)
    deadline = time.monotonic() + 30
    while workers <= {process.pid for process in checkout.processes()} and time.monotonic() < deadline:
        time.sleep(0.2)  # a replaced worker ends
    time.sleep(1.5)

    counted = sum((client.counts for client in clients), Counter[tuple[str, str, str]]())
    assert not workers <= {process.pid for process in checkout.processes()}
    assert read_metrics(address)["contentapi_requests_total"] == counted


def test_metrics_are_not_at_the_public_address(checkout: Checkout) -> None:
    address = f"127.0.0.1:{free_port()}"
    run = checkout.run(port=free_port(), CONTENTAPI_METRICS_BIND=address).wait_until_ready()
    connection = HTTPConnection("localhost", int(run.port), timeout=30)
    connection.request("GET", "/metrics")

    response = connection.getresponse()

    assert (response.status, b"contentapi_" in response.read()) == (404, False)
    connection.close()
    assert ("worker",) in read_metrics(address)["contentapi_processes"]


def test_occupied_address_of_metrics_stops_the_start(checkout: Checkout) -> None:
    port = free_port()
    first = checkout.run(port=free_port(), CONTENTAPI_METRICS_BIND=f"127.0.0.1:{port}").wait_until_ready()

    printed = checkout.run(port=free_port(), CONTENTAPI_METRICS_BIND=f"127.0.0.1:{port}").fails()

    assert f"CONTENTAPI_METRICS_BIND: cannot listen on 127.0.0.1:{port}: Address already in use." in printed
    assert "Traceback" not in printed
    assert first.process.poll() is None


def test_each_request_has_a_line_with_the_id_of_its_response(checkout: Checkout) -> None:
    run = checkout.run(port=free_port(), CONTENTAPI_LOG_FORMAT="json").wait_until_ready()
    connection = HTTPConnection("localhost", int(run.port), timeout=30)
    ids = []
    for path in ("/posts?tag=hunter2", "/posts/0", "/admin/login/", "/healthz"):
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        ids.append(response.headers["X-Request-ID"])
    connection.close()

    lines = [json.loads(line) for line in run.printed.splitlines() if line.startswith('{"time"')]

    requests = [line for line in lines if line["logger"] == "contentapi.requests"]
    assert [line["request_id"] for line in requests] == ids[:3]  # by default, a health check has no line
    assert [(line["operation"], line["status"]) for line in requests] == [
        ("/posts", 200),
        ("/posts/{post_id}", 404),
        ("/admin/login/", 200),
    ]
    assert "hunter2" not in run.printed
    assert all(re.fullmatch(r"[\d-]+T[\d:.]+Z", line["time"]) for line in lines)
