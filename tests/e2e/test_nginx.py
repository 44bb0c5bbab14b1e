"""The nginx configuration of the deployment, in front of a server that records requests."""

import http.client
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deployment.proxies import CONFIGURATION, adapt_configuration, find_nginx, start_nginx
from tests.e2e.upstream import Upstream, run_upstream

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
