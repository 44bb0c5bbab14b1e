"""nginx with the configuration of deploy/ buffers few large bodies of one address."""

import select
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.deployment.ports import find_free_port
from tests.deployment.proxies import start_nginx
from tests.e2e.conftest import NEEDS_NGINX

pytestmark = [pytest.mark.servers, NEEDS_NGINX]
AT_ONCE = 8  # `limit_conn` of deploy/nginx.conf


def begin_body(port: int, path: str, source: str) -> socket.socket:
    """Send the head of a request with a body of 1,000,000 bytes: a reset loses a response to unread bytes."""
    connection = socket.create_connection(("127.0.0.1", port), 30, (source, 0))
    connection.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n".encode())
    return connection


def send_body(connection: socket.socket) -> bytes:
    """Send the body, and return the beginning of the response."""
    connection.sendall(b"x" * 1_000_000)
    return connection.recv(100)


def test_address_has_few_large_bodies_at_once(tmp_path: Path) -> None:
    with start_nginx(find_free_port(), tmp_path) as port:
        for number, path in enumerate(["/images", "/v1/images", "/uploads/7", "/admin/blog/importjob/add/"], start=2):
            check_large_bodies(port, path, f"127.0.0.{number}")


def check_large_bodies(port: int, path: str, source: str) -> None:
    with ExitStack() as stack:
        # The workers of nginx take the connections in any order: any of them can be the one too many.
        connections = [stack.enter_context(begin_body(port, path, source)) for _ in range(AT_ONCE + 1)]
        refused = select.select(connections, [], [], 30)[0]
        elsewhere = stack.enter_context(begin_body(port, "/graphql", source))

        assert [connection.recv(100)[:13] for connection in refused] == [b"HTTP/1.1 429 "]
        for each in [elsewhere, *connections]:
            if each not in refused:
                assert send_body(each).startswith(b"HTTP/1.1 502 ")  # no server is there
