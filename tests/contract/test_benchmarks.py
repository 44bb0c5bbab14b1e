"""The requests of the benchmark are valid for the schema and the limits, and all differ."""

import json
import os
import random
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from corsheaders.middleware import CorsMiddleware
from django.conf import settings
from django.http import HttpResponse
from django.test import RequestFactory, override_settings
from graphql import parse, validate

from benchmarks import memory
from benchmarks.conditions import BROWSER, CONDITIONS, ORIGIN, TRACEPARENT, VARIED, headers_for
from benchmarks.measure import load_environment, name_series
from benchmarks.places import HERE
from benchmarks.plan import MAIN
from benchmarks.workloads import ALL, TEXTS, Dialect, operation, variables
from contentapi.schema import SCHEMA

Received = list[tuple[Message, bytes]]


@pytest.mark.parametrize("workload", ALL)
def test_workload_is_valid_for_the_schema(workload: str) -> None:
    series = name_series("m", 0, MAIN)
    body = json.loads(Dialect().body(workload, variables(workload, random.Random(1), 1), 1, series))  # noqa: S311

    assert validate(SCHEMA, parse(body["query"])) == []
    assert body["variables"].get("limit", 1) <= settings.ENVIRONMENT.contentapi_max_page


@pytest.mark.parametrize("number", range(50))
def test_request_of_the_memory_workload_is_valid_for_the_schema(number: int) -> None:
    assert validate(SCHEMA, parse(json.loads(memory.body(number))["query"])) == []


@pytest.mark.parametrize("workload", ALL)
def test_all_bodies_of_a_workload_differ(workload: str) -> None:
    bodies = list(Dialect().bodies(workload, "s"))

    assert len(set(bodies)) == len(bodies)


@pytest.mark.parametrize("workload", ["post-new", "page10-new"])
def test_first_request_workloads_have_a_new_text_in_each_request(workload: str) -> None:
    texts = {json.loads(body)["query"] for series in ("1", "2") for body in Dialect().bodies(workload, series)}

    assert len(texts) == 2 * len(list(Dialect().bodies(workload, "1")))


def test_other_workloads_keep_their_query_text() -> None:
    assert json.loads(Dialect().body("post", {"id": "1"}))["query"] == TEXTS[operation("post")]


def test_headers_of_a_condition_are_combined_with_a_credential() -> None:
    headers = headers_for(BROWSER, ("Authorization", "Bearer t"))

    assert headers == headers_for(BROWSER) | {"Authorization": "Bearer t"}


@override_settings(CORS_ALLOWED_ORIGINS=[ORIGIN])
def test_origin_of_the_browser_condition_can_be_allowed() -> None:
    request = RequestFactory().post("/graphql", b"{}", "application/json", headers=headers_for(BROWSER))

    response = CorsMiddleware(lambda _: HttpResponse())(request)

    assert response["Access-Control-Allow-Origin"] == ORIGIN  # type: ignore[index]


@pytest.mark.servers
@pytest.mark.skipif(not shutil.which("wrk"), reason="wrk is not installed")
@pytest.mark.parametrize("condition", CONDITIONS)
def test_wrk_sends_every_request_with_a_new_valid_traceparent(condition: str, tmp_path: Path) -> None:
    expected = headers_for(condition, ("X-API-Key", "k"))
    bodies = [f'{{"query": "{{ a{number} }}"}}' for number in range(3)]
    path = tmp_path / "bodies.txt"
    path.write_text("\n".join(bodies) + "\n")

    with collecting_server() as (url, received):
        for _ in range(20):
            subprocess.run(
                ["wrk", "-t1", "-c2", "-d1s", "--script", str(HERE / "load.lua"), url],
                check=True,
                capture_output=True,
                env=os.environ | load_environment(path, expected),
            )
            if len(received) > 10:  # a busy machine may need another second
                break

    traces = [headers["traceparent"] for headers, _ in received]
    assert len(received) > 10
    assert len(set(traces)) == len(traces)
    assert TRACEPARENT not in traces
    assert all(re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", trace) for trace in traces)
    assert {body.decode() for _, body in received} == set(bodies)
    for headers, _ in received:
        sent = {name: headers[name] for name in expected if name != "traceparent"}
        assert sent == {name: value for name, value in expected.items() if name != "traceparent"}


def test_memory_workload_sends_new_headers_in_every_request() -> None:
    with collecting_server() as (url, received):
        failed = memory.send(int(url.split(":")[2].split("/")[0]), 0, 20)

    assert failed == 0
    assert len({headers["traceparent"] for headers, _ in received}) == len(received) == 20
    assert received[0][0]["Accept"] == headers_for(VARIED)["Accept"]


@contextmanager
def collecting_server() -> Iterator[tuple[str, Received]]:
    """Run an HTTP server on loopback that keeps the headers and the body of each request."""
    received: Received = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((self.headers, body))
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/graphql", received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
