"""The nginx configuration of the deployment, in front of a server that records requests."""

import socket
import time
from pathlib import Path

import pytest

from tests.deployment.proxies import start_nginx
from tests.e2e.conftest import NEEDS_NGINX
from tests.receiver_behaviours import respond
from tests.webhook_receivers import Receiver

pytestmark = [pytest.mark.servers, NEEDS_NGINX]


def test_incomplete_body_does_not_reach_the_server(tmp_path: Path) -> None:
    with (
        Receiver(respond(200)) as upstream,
        start_nginx(upstream.port, tmp_path) as port,
        socket.create_connection(("127.0.0.1", port), timeout=120) as connection,
    ):
        connection.sendall(b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nab")
        time.sleep(0.5)
        received_before = list(upstream.received)
        connection.sendall(b"cd")
        response = connection.recv(65536)

    assert received_before == []
    assert upstream.received[0].body == b"abcd"
    assert response.startswith(b"HTTP/1.1 200 ")
