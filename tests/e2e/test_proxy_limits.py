"""nginx with the configuration of deploy/ buffers few large bodies of one address."""

import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from benchmarks.hostile.servers import find_nginx, start_nginx
from tests.ports import find_free_port

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(find_nginx() is None, reason="nginx is not installed"),
]
AT_ONCE = 8  # `limit_conn` of deploy/nginx.conf


def begin_body(port: int, path: str, sent: int = 999_999) -> socket.socket:
    """Send a request whose body lacks a byte, or more: a reset loses a response to unread bytes."""
    connection = socket.create_connection(("127.0.0.1", port), 30)
    connection.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n".encode() + b"x" * sent)
    return connection


@pytest.mark.parametrize("path", ["/images", "/v1/images", "/uploads/7", "/admin/blog/importjob/add/"])
def test_address_has_few_large_bodies_at_once(tmp_path: Path, path: str) -> None:
    with start_nginx(find_free_port(), tmp_path) as port, ExitStack() as stack:
        waiting = [stack.enter_context(begin_body(port, path)) for _ in range(AT_ONCE)]
        refused = stack.enter_context(begin_body(port, path, sent=0)).recv(100)
        elsewhere = stack.enter_context(begin_body(port, "/graphql"))
        elsewhere.sendall(b"x")

        assert refused.startswith(b"HTTP/1.1 429 ")
        assert elsewhere.recv(100).startswith(b"HTTP/1.1 502 ")  # no server is there
        waiting[0].sendall(b"x")
        assert waiting[0].recv(100).startswith(b"HTTP/1.1 502 ")
