"""The nginx configuration of the deployment, in front of a server that records requests."""

import http.client
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deployment.proxies import CONFIGURATION, adapt_configuration, find_nginx, start_nginx
from tests.e2e.upstream import PAGE, Upstream, run_upstream

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(find_nginx() is None, reason="nginx is not installed"),
]


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with run_upstream() as server:
        yield server


@pytest.fixture
def port(upstream: Upstream, tmp_path: Path) -> Iterator[int]:
    with start_nginx(upstream.port, tmp_path) as port:
        yield port


def send(port: int, path: str = "/posts", headers: dict[str, str] | None = None) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("GET", path, headers=headers or {})
    content = connection.getresponse().read()
    connection.close()
    return content


def test_request_and_response_pass_through(port: int, upstream: Upstream) -> None:
    assert send(port, "/v1/posts?limit=2&status=published%20", {"If-None-Match": '"3-a"'}) == PAGE

    assert upstream.received[0].path == "/v1/posts?limit=2&status=published%20"
    assert upstream.received[0].headers["If-None-Match"] == '"3-a"'
    assert upstream.received[0].headers["Host"] == "127.0.0.1"


def test_forwarded_address_of_the_client_is_replaced(port: int, upstream: Upstream) -> None:
    forged = {"Forwarded": "for=192.0.2.9", "X-Forwarded-For": "192.0.2.9", "X-Forwarded-Proto": "https"}
    send(port, headers=forged)

    assert upstream.received[0].headers["Forwarded"] == "for=127.0.0.1"
    assert upstream.received[0].headers["X-Forwarded-For"] == "127.0.0.1"
    assert upstream.received[0].headers["X-Forwarded-Proto"] == "http"


def test_header_names_with_underscores_are_dropped(port: int, upstream: Upstream) -> None:
    send(port, headers={"X_Forwarded_For": "192.0.2.9", "X_API_Key": "stolen", "SCRIPT_NAME": "/elsewhere"})

    assert not [name for name in upstream.received[0].headers if "_" in name]


def test_incomplete_body_does_not_reach_the_server(port: int, upstream: Upstream) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        connection.sendall(b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nab")
        time.sleep(0.5)
        received_before = list(upstream.received)
        connection.sendall(b"cd")
        response = connection.recv(65536)

    assert received_before == []
    assert upstream.received[0].body == b"abcd"
    assert response.startswith(b"HTTP/1.1 200 ")


def test_connections_to_the_server_are_reused(port: int, upstream: Upstream) -> None:
    for _ in range(10):
        send(port)

    assert len({request.client for request in upstream.received}) < 10  # each process of nginx has its own


def test_configuration_without_a_line_to_adapt_is_rejected() -> None:
    text = CONFIGURATION.read_text().replace("listen 80 ", "listen 8080 ")

    with pytest.raises(ValueError, match="listen 80"):
        adapt_configuration(text, Path("folder"), 1, 2)
