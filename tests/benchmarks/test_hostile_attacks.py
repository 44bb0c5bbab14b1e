"""The behaviour of the attackers, observed by a listening socket."""

import socket
import time
from collections.abc import Iterator

import pytest

from benchmarks.hostile.attackers import LONGEST_OVERRUN, start_attack
from benchmarks.hostile.attacks import ATTACKS, FEWEST
from tests.benchmarks.upstream import run_upstream

pytestmark = pytest.mark.servers


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        server.settimeout(120)
        yield server


def read_everything(connection: socket.socket) -> bytes:
    """Return all bytes that arrive, until half a second passes without any after the first ones."""
    connection.settimeout(120)
    content = connection.recv(65536)
    connection.settimeout(0.5)
    try:
        while received := connection.recv(65536):
            content += received
    except TimeoutError:
        pass
    return content


def attack_once(name: str, listener: socket.socket) -> bytes:
    """Return the bytes that one client of an attack sends before it waits."""
    with start_attack(ATTACKS[name]._replace(clients=1), listener.getsockname()[1], 5):
        connection, _ = listener.accept()
        with connection:
            return read_everything(connection)


def test_client_that_stops_in_the_headers_does_not_end_them(listener: socket.socket) -> None:
    sent = attack_once("headers-16", listener)

    assert sent.startswith(b"POST /graphql HTTP/1.1\r\n")
    assert b"\r\n\r\n" not in sent


def test_client_that_stops_in_the_body_sends_less_than_announced(listener: socket.socket) -> None:
    head, _, body = attack_once("body-16", listener).partition(b"\r\n\r\n")

    assert 0 < len(body) < int(head.partition(b"Content-Length: ")[2].split()[0])


def test_slow_client_sends_a_byte_at_first(listener: socket.socket) -> None:
    sent = attack_once("slow-100", listener)

    assert sent
    assert b"POST".startswith(sent)  # one byte, or one for each second that a busy machine took


def test_slow_upload_sends_a_part_of_its_image_at_first(listener: socket.socket) -> None:
    sent = attack_once("uploads-100", listener)

    assert sent.startswith(b"POST /images HTTP/1.1\r\n")
    assert len(sent) % 1000 == 0


def test_idle_client_sends_nothing(listener: socket.socket) -> None:
    with start_attack(ATTACKS["idle-2000"]._replace(clients=1), listener.getsockname()[1], 5):
        connection, _ = listener.accept()
        connection.settimeout(0.5)
        with connection, pytest.raises(TimeoutError):
            connection.recv(1)


def test_client_whose_connection_the_server_closes_opens_another(listener: socket.socket) -> None:
    with start_attack(ATTACKS["idle-2000"]._replace(clients=1), listener.getsockname()[1], 5) as attackers:
        for _ in range(2):
            listener.accept()[0].close()

    assert attackers.seen["opened"] >= 2
    assert attackers.seen["closed by the server"] >= 1


@pytest.mark.parametrize("name", ["garbage", "close"])
def test_clients_of_a_steady_attack_leave_their_connections_open(name: str, listener: socket.socket) -> None:
    with start_attack(ATTACKS[name], listener.getsockname()[1], 5) as attackers:
        connections = [listener.accept()[0] for _ in range(4)]
        assert all(
            read_everything(connection) for connection in connections
        )  # none is empty: no connection has been closed
        for connection in connections:
            connection.setblocking(False)
            with pytest.raises(BlockingIOError):
                connection.recv(1)
            connection.close()

    assert attackers.seen["opened"] >= 4


def test_attackers_and_victim_have_different_addresses(listener: socket.socket) -> None:
    with start_attack(ATTACKS["idle-2000"]._replace(clients=3), listener.getsockname()[1], 5):
        connections = [listener.accept() for _ in range(3)]
    addresses = {address for _, (address, _) in connections}
    for connection, _ in connections:
        connection.close()

    assert len(addresses) == 3
    assert "127.0.0.1" not in addresses


def test_expensive_documents_are_sent_repeatedly_and_counted_by_status() -> None:
    with run_upstream() as server:
        with start_attack(ATTACKS["expensive-8"], server.port, 5) as attackers:
            while len(server.received) < 50:
                assert attackers.process.poll() is None
                time.sleep(0.01)

        assert attackers.seen["opened"] == 8
        assert attackers.seen["status 200"] >= 40
        bodies = [request.body for request in server.received]
        assert len(set(bodies)) == len(bodies)


def test_attack_without_a_signal_ends_after_its_time(listener: socket.socket) -> None:
    with start_attack(
        ATTACKS["idle-2000"]._replace(clients=1), listener.getsockname()[1], 3 - LONGEST_OVERRUN
    ) as attackers:
        attackers.process.wait(120)

    assert attackers.seen["opened"] == 1


def test_scaling_keeps_enough_clients() -> None:
    assert ATTACKS["headers-1000"].scale(0.1).clients == 100
    assert ATTACKS["body-100"].scale(0.1).clients == FEWEST
    assert ATTACKS["expensive-8"].scale(0.1).clients == 8
    assert ATTACKS["garbage"].scale(0.1).clients == 8
