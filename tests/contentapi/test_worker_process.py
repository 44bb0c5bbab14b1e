"""The worker's connections and threads: how many, how long, and how they end."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from signal import SIGINT, SIGTERM

import psutil
import pytest

from contentapi.worker import GracefulWorker, Worker
from tests.contentapi.gunicorn_server import PATIENCE, Client, Server, request

pytestmark = pytest.mark.processes

SHORT = request("POST /unread HTTP/1.1", body=b"x")
MEET = request("POST /meet HTTP/1.1", body=b"x")


class Started:
    """Starts servers, which end with the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.servers: list[Server] = []

    def __call__(self, worker: type[GracefulWorker] = Worker, **settings: object) -> Server:
        server = Server(self.folder / str(len(self.servers)), worker.__name__, **settings)
        self.servers.append(server)
        return server


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Started]:
    start = Started(tmp_path)
    yield start
    for server in start.servers:
        server.kill()


def slow(seconds: float) -> bytes:
    return request("POST /slow HTTP/1.1", body=b"%f" % seconds)


def worker_of(server: Server) -> psutil.Process:
    [worker] = psutil.Process(server.process.pid).children()
    return worker


def seconds_until_closed(client: Client) -> float:
    started = time.monotonic()
    assert client.is_closed()
    return time.monotonic() - started


def test_more_connections_than_threads_are_all_answered(start: Started) -> None:
    server = start(threads=2)
    clients = [server.connect() for _ in range(20)]

    for _ in range(3):
        for client in clients:
            client.send(SHORT)
        answers = [client.read() for client in clients]

        assert [answer.body for answer in answers if answer] == [b"not read"] * 20
    for client in clients:
        client.close()


def test_requests_run_at_the_same_time_whether_their_heads_are_known_or_not(start: Started) -> None:
    server = start(threads=2)
    clients = [server.connect() for _ in range(2)]

    for _ in range(3):
        for client in clients:
            client.send(MEET)
        assert {answer.body for answer in (client.read() for client in clients) if answer} == {b"0", b"1"}


def test_a_request_waits_longer_than_an_idle_connection_for_a_thread(start: Started) -> None:
    server = start(threads=1, keepalive=1)
    with server.connect() as known, server.connect() as ahead, server.connect() as busy, server.connect() as new:
        known.ask(SHORT)
        ahead.ask(SHORT)
        busy.send(slow(2.4))
        ahead.send(SHORT + SHORT)
        known.send(SHORT)
        new.send(SHORT)

        answers = [busy.read(), known.read(), new.read(), ahead.read(), ahead.read()]

    assert [answer.body for answer in answers if answer] == [b"at last", *[b"not read"] * 4]


def test_an_idle_connection_is_closed_after_its_time_and_another_is_not(start: Started) -> None:
    server = start(keepalive=1)
    with server.connect() as idle, server.connect() as active:
        idle.ask(SHORT)
        for _ in range(8):
            assert active.ask(SHORT)
            time.sleep(0.2)

        assert seconds_until_closed(idle) < 2
        assert active.ask(SHORT)


def test_without_keepalive_each_answer_closes_and_a_client_may_take_its_time(start: Started) -> None:
    server = start(keepalive=0)
    with server.connect() as client:
        time.sleep(1.2)

        answer = client.ask(SHORT)

        assert answer is not None
        assert answer.closes
        assert client.is_closed()


def test_connections_are_kept_until_only_the_threads_ones_are_left(start: Started) -> None:
    server = start(threads=2, worker_connections=4)
    with server.connect() as one, server.connect() as other:
        kept = [client.ask(SHORT) for client in (one, other, one, other)]

        assert server.ask_once(SHORT).closes
        assert server.ask_once(SHORT).closes
        assert [answer.closes for answer in kept if answer] == [False] * 4


@pytest.mark.parametrize("kind", ["ValueError", "OSError", "BlockingIOError", "SystemExit", "break"])
@pytest.mark.parametrize("before", [0, 2])
def test_no_failure_of_the_application_takes_a_thread_or_a_connection(start: Started, kind: str, before: int) -> None:
    server = start(threads=2, worker_connections=6)
    line = "POST /unread?break HTTP/1.1" if kind == "break" else "POST /raise HTTP/1.1"

    for _ in range(8):
        answers = server.ask(*[request(line)] * before, request(line, body=kind.encode()), SHORT)
        assert answers[-1] is None

    with server.connect() as one, server.connect() as other:
        one.send(MEET)
        other.send(MEET)
        assert {answer.body for answer in (one.read(), other.read()) if answer} == {b"0", b"1"}
    assert "as asked" in server.printed


def test_no_client_that_hangs_up_takes_a_thread_or_a_connection(start: Started) -> None:
    server = start(threads=2, worker_connections=6)
    head_alone = request("POST /length HTTP/1.1", length=10)
    large = request("POST /large?bytes=3000000 HTTP/1.1", body=b"x")
    for sent in (b"", b"POST", SHORT, head_alone, head_alone + b"part", large, SHORT + SHORT, MEET[:-1]):
        for is_rude in (False, True):
            for known in ((), (SHORT, SHORT)):
                client = server.connect()
                for each in known:
                    client.ask(each)
                if is_rude:
                    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                client.send(sent)
                client.close()

    with server.connect() as one, server.connect() as other:
        one.send(MEET)
        other.send(MEET)
        assert {answer.body for answer in (one.read(), other.read()) if answer} == {b"0", b"1"}
    assert "Traceback" not in server.printed


def test_a_connection_that_ends_leaves_nothing_open(start: Started) -> None:
    server = start()
    server.ask(SHORT, SHORT)
    worker = worker_of(server)
    before = worker.num_fds()

    for _ in range(20):
        server.ask(SHORT, SHORT)

    deadline = time.monotonic() + PATIENCE
    while worker.num_fds() > before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert worker.num_fds() <= before


@pytest.mark.parametrize("number", [SIGTERM, SIGINT])
def test_a_running_request_finishes_before_the_end(start: Started, number: int) -> None:
    server = start()
    with server.connect() as known, server.connect() as new, ThreadPoolExecutor() as pool:
        known.ask(slow(0))
        known.send(slow(0.5))
        new.send(slow(0.5))
        time.sleep(0.2)
        ended = pool.submit(server.stop, number)

        of_known, of_new = known.read(), new.read()

        assert of_known is not None
        assert (of_known.body, of_known.closes) == (b"at last", True)
        assert of_new is not None
        assert of_new.body == b"at last"
        known.close()
        new.close()
        assert ended.result() < 3
    assert server.process.returncode == 0
    assert "Traceback" not in server.printed


def test_an_idle_connection_has_two_seconds_for_a_last_request(start: Started) -> None:
    server = start()
    with server.connect() as asking, server.connect() as idle, ThreadPoolExecutor() as pool:
        asking.ask(SHORT)
        asking.ask(SHORT)
        idle.ask(SHORT)
        ended = pool.submit(server.stop)
        time.sleep(0.3)

        last = asking.ask(SHORT)

        assert last is not None
        assert last.closes
        assert asking.is_closed()
        asking.close()
        assert idle.is_closed()
        assert ended.result() < 5


def test_without_connections_the_end_is_prompt(start: Started) -> None:
    server = start()
    server.ask(SHORT, SHORT)

    assert server.stop() < 2


def test_a_worker_ends_after_its_last_request_and_another_takes_over(start: Started) -> None:
    server = start(max_requests=3)
    first = worker_of(server)
    with server.connect() as client:
        answers = [client.ask(SHORT) for _ in range(3)]

        assert [answer.closes for answer in answers if answer] == [False, False, True]
        assert client.is_closed()
    assert server.ask_once(SHORT).body == b"not read"
    first.wait(PATIENCE)


def test_a_unix_socket_serves_as_gunicorns_does(start: Started, tmp_path: Path) -> None:
    answers = []
    for worker in (Worker, GracefulWorker):
        address = tmp_path / worker.__name__
        start(worker, bind=f"unix:{address}")
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(address))
        with Client(connection) as client:
            answers.append([client.ask(request(body=b"x")) for _ in range(3)])

    ours, gunicorns = answers
    assert ours[0] is not None
    assert ours == gunicorns == ours[:1] * 3


def test_the_access_log_has_each_request_as_gunicorns_has(start: Started) -> None:
    form = "%(h)s %(r)s %(s)s %(b)s %({x-told}o)s %({authorization}i)s"
    logged = []
    for worker in (Worker, GracefulWorker):
        server = start(worker, accesslog="-", access_log_format=form)
        asked = request("POST /header HTTP/1.1", "Authorization: b", body=b"a")
        harmless = request("POST /raise HTTP/1.1")
        server.ask(asked, asked, asked, harmless, harmless, request("POST /raise HTTP/1.1", body=b"ValueError"))
        logged.append([line for line in server.printed.splitlines() if line.startswith("127.0.0.1 POST")])

    assert logged[0] == logged[1]
    assert logged[0][:3] == ["127.0.0.1 POST /header HTTP/1.1 200 4 a b"] * 3
