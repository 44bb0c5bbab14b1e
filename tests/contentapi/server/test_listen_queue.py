"""The queue of a listening socket, with real connections."""

import socket
import sys
import time
from collections.abc import Iterator
from threading import Thread
from unittest.mock import Mock

import pytest

from contentapi.server import listen_queue
from contentapi.server.granian import open_listener
from contentapi.server.listen_queue import count_queued, empty_queues, refuse_new_connections, stop_accepting

SETTLE = 0.1
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")


@pytest.fixture(params=["127.0.0.1", "::1"])
def listener(request: pytest.FixtureRequest) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in request.param else socket.AF_INET
    try:
        listener = socket.create_server((request.param, 0), family=family)
    except OSError:
        pytest.skip(f"cannot listen on {request.param}")
    with listener:
        yield listener


@pytest.fixture(autouse=True)
def settle_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listen_queue, "HANDSHAKE_LIMIT", SETTLE)


def connect(listener: socket.socket, timeout: float = 60) -> socket.socket:
    """Return a connection that is in the queue: the kernel may take the last packet of its handshake a moment later."""
    before = count_queued(listener)
    connection = socket.create_connection(listener.getsockname()[:2], timeout=timeout)
    while count_queued(listener) == before:
        time.sleep(0.001)
    return connection


def test_connections_in_the_queue_are_counted(listener: socket.socket) -> None:
    with connect(listener), connect(listener):
        assert count_queued(listener) == 2
        listener.accept()[0].close()
        assert count_queued(listener) == 1


def test_new_connections_are_refused_and_queued_ones_are_not(listener: socket.socket) -> None:
    with connect(listener) as queued:
        queued.sendall(b"request")
        assert refuse_new_connections(listener)

        with pytest.raises(TimeoutError):
            connect(listener, timeout=0.2)
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.recv(100) == b"request"
            queued.sendall(b"more")
            assert accepted.recv(100) == b"more"


def test_queue_is_emptied_by_another_thread(listener: socket.socket) -> None:
    connections = [connect(listener) for _ in range(20)]

    def accept_slowly() -> None:
        for _ in connections:
            time.sleep(0.01)  # altogether longer than the queue is given to settle
            listener.accept()[0].close()

    thread = Thread(target=accept_slowly)
    thread.start()
    empty_queues([listener], 60, lambda: False)

    assert count_queued(listener) == 0
    thread.join()
    for each in connections:
        each.close()


@pytest.mark.parametrize(("timeout", "must_stop"), [(2 * SETTLE, False), (10**9, True)])
def test_wait_for_the_queue_has_an_end(listener: socket.socket, timeout: float, must_stop: bool) -> None:  # noqa: FBT001
    with connect(listener):
        empty_queues([listener], timeout, lambda: must_stop)

        assert count_queued(listener) == 1


def test_process_stops_accepting_under_the_same_descriptor(listener: socket.socket) -> None:
    descriptor = listener.fileno()
    with socket.socket(fileno=socket.dup(descriptor)) as other:  # as in another process
        address = listener.getsockname()[:2]
        stop_accepting(listener)

        with socket.create_connection(address, timeout=60):
            with socket.socket(fileno=socket.dup(descriptor)) as now, pytest.raises(BlockingIOError):
                now.accept()
            other.accept()[0].close()


def test_address_that_is_not_found_is_an_error_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Mock(side_effect=socket.gaierror(-2, "Name or service not known")))

    with pytest.raises(SystemExit, match=r"^Cannot listen on nowhere:8000: Name or service not known\.$"):
        open_listener("nowhere", 8000, 1)
