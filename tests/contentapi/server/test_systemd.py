"""Notifications to systemd, received from real sockets and sent after requests to a real server."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

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


def test_socket_that_does_not_exist_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "no"))

    systemd.notify("READY=1")

    assert caplog.messages == ["Cannot notify systemd: No such file or directory"]
