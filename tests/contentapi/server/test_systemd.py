"""Notifications to systemd, received from real sockets and sent after requests to a real server."""

import os
import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import pytest

from contentapi.server import systemd

PATIENCE = 60


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    with TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(f"{folder}/notify")
        listener.settimeout(PATIENCE)
        monkeypatch.setenv("NOTIFY_SOCKET", f"{folder}/notify")
        yield listener


class Refuse(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_error(503)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), Refuse) as server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Return the port of a server that accepts connections and never responds."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_message_is_a_datagram_to_the_socket(listener: socket.socket) -> None:
    systemd.notify("READY=1")

    assert listener.recv(100) == b"READY=1"


def test_message_to_an_abstract_socket_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"contentapi-test-{os.getpid()}"
    monkeypatch.setenv("NOTIFY_SOCKET", f"@{name}")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(f"\0{name}")
        listener.settimeout(PATIENCE)

        systemd.notify("STOPPING=1")

        assert listener.recv(100) == b"STOPPING=1"


def test_nothing_is_sent_without_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)

    systemd.notify("READY=1")  # raises nothing
    systemd.start_notifications("127.0.0.1", 1)


def test_socket_that_does_not_exist_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "no"))

    systemd.notify("READY=1")

    assert caplog.messages == ["Cannot notify systemd: No such file or directory"]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "60000000"}, 20),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": str(os.getpid())}, 20),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_interval_is_a_third_of_the_watchdogs_period(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: float | None
) -> None:
    for name in ("WATCHDOG_USEC", "WATCHDOG_PID"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert systemd.get_watchdog_interval() == expected


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0", ""])  # noqa: S104
def test_server_that_sends_a_status_responds(port: int, address: str) -> None:
    assert systemd.is_responding(address, port)


def test_server_that_accepts_and_stays_silent_does_not_respond(
    silent_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(systemd, "SELF_PROBE_LIMIT", 0.2)

    assert not systemd.is_responding("127.0.0.1", silent_port)


def test_closed_port_does_not_respond() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    assert not systemd.is_responding("127.0.0.1", port)


def test_ready_and_watchdog_follow_responses(
    listener: socket.socket, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", "300000")
    monkeypatch.delenv("WATCHDOG_PID", raising=False)

    systemd.start_notifications("127.0.0.1", port)

    assert [listener.recv(100) for _ in range(3)] == [b"READY=1", b"WATCHDOG=1", b"WATCHDOG=1"]
