"""The life of a worker: it is replaced when it is old or stuck, and no request is lost.

gunicorn has tests of what its own code does: it starts and ends workers. The watchdog is the same.
"""

import os
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.deployment.live_server import HOLD_LOCK, TAKE_SLOTS, Site, run_site
from tests.deployment.processes import wait_until
from tests.deployment.template import Template
from tests.e2e.load import BODY, PATIENCE, Results, load

pytestmark = pytest.mark.servers

SHORT = {"CONTENTAPI_STATEMENT_TIMEOUT": "500", "CONTENTAPI_WORKER_TIMEOUT": "3000"}
REQUEST = b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
REQUEST += b"Content-Length: %d\r\n\r\n%s" % (len(BODY), BODY)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, template: Template) -> Iterator[Site]:
    with run_site(tmp_path_factory.mktemp("lifecycle"), template) as site:
        yield site


@pytest.fixture(params=["granian", "gunicorn"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def assert_no_request_lost(results: Results) -> None:
    assert results.failures == []
    assert set(results.statuses) == {200}


# --- Replacement of workers


def test_worker_is_replaced_if_killed_or_reloaded_and_the_end_answers_or_refuses(site: Site, kind: str) -> None:
    """The limit of the memory is below the size of a new worker, which replaces none."""
    with site.serve(kind, WEB_CONCURRENCY="2", CONTENTAPI_WORKER_MAX_MEMORY="1000000") as server:
        before = server.workers
        for pid in before:
            os.kill(pid, signal.SIGINT)
            os.kill(pid, signal.SIGTERM)
        with load(server.port) as results:
            time.sleep(2)  # nothing happens
            assert server.workers == before
            assert server.count("Replacing worker") == 0

            server.process.send_signal(signal.SIGHUP)
            wait_until(lambda: not set(before) & set(server.workers), "the end of the first workers")
        assert_no_request_lost(results)

        wait_until(server.has_all_workers, "the end of old workers")
        for _ in range(3):
            time.sleep(1)  # a worker that ends before it is ready is another case
            killed = server.workers[-1]  # the one that has started last
            os.kill(killed, signal.SIGKILL)
            wait_until(lambda: killed not in server.workers and server.has_all_workers(), "another worker")  # noqa: B023

        with load(server.port) as results:
            time.sleep(1)
            assert server.end() == 0
        assert set(results.statuses) == {200}
        assert {each for each in results.failures if not each.startswith("ConnectionRefusedError")} == set()


def test_stuck_workers_are_replaced_suspended_ones_are_not_and_all_end_with_a_killed_master(site: Site) -> None:
    """One is stopped, one holds the lock of the interpreter, and one has no slot left: the fourth serves on."""
    limits = {"CONTENTAPI_MAX_ROOT_FIELDS": "1", "CONTENTAPI_MAX_MUTATIONS": "1", **SHORT}
    with site.serve("granian", WEB_CONCURRENCY="4", **limits) as server:
        before = server.workers
        everyone = [server.process.pid, *before]
        for pid in everyone:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(4.5)  # longer than the time-out of a worker
        for pid in everyone:
            os.kill(pid, signal.SIGCONT)
        time.sleep(1)
        assert server.workers == before
        assert server.try_request()

        *stuck, other = before
        start = time.monotonic()
        for pid, fault in zip(stuck, [signal.SIGSTOP, HOLD_LOCK, TAKE_SLOTS], strict=True):
            os.kill(pid, fault)
        wait_until(lambda: set(stuck) & set(server.workers) != set(stuck), "the end of a stuck worker")
        seconds = time.monotonic() - start
        wait_until(lambda: not set(stuck) & set(server.workers), "the end of all stuck workers")
        wait_until(server.has_all_workers, "the start of other workers")

        assert seconds > 1.5  # half of the time-out: the last sign of life may have come late on a busy machine
        assert other in server.workers
        assert [server.try_request() for _ in range(20)] == [True] * 20
        assert server.count("most recent call first") >= 2  # the stopped one cannot print its threads

        workers = server.workers
        server.process.kill()
        server.process.wait()

        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers), "the end of the workers")


# --- The end of the server


def open_and_send(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    connection.sendall(REQUEST)
    return connection


def read_status(connection: socket.socket) -> str:
    """Return the status line of a complete response, or the error."""
    content = b""
    try:
        with connection:
            while part := connection.recv(65536):
                content += part
    except OSError as error:
        return f"{error} after {content[:50]!r}"
    head, _, body = content.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    is_complete = lengths and int(lengths[0].split(b":")[1]) == len(body)
    return head.split(b"\r\n")[0].decode() if is_complete else f"incomplete: {content[:100]!r}"


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.thorough)])
def test_every_accepted_request_gets_its_response_at_the_end(site: Site, kind: str, number: signal.Signals) -> None:
    with site.serve(kind, WEB_CONCURRENCY="1") as server:
        (worker,) = server.workers
        with site.locked_posts(1):
            os.kill(worker, signal.SIGSTOP)  # accepts nothing: the connections stay in the listen queue
            connections = [open_and_send(server.port) for _ in range(200)]
            server.process.send_signal(number)
            time.sleep(0.3)
            os.kill(worker, signal.SIGCONT)
            with ThreadPoolExecutor(40) as pool:
                statuses = [*pool.map(read_status, connections)]

        # On a slow machine a request may wait for the lock longer than the database permits.
        assert set(statuses) <= {"HTTP/1.1 200 OK", "HTTP/1.1 503 Service Unavailable"}
        assert statuses.count("HTTP/1.1 200 OK") > 0
        assert server.process.wait(PATIENCE) == 0


def test_next_server_takes_over_the_port_of_granian_and_replaces_workers_after_their_requests(site: Site) -> None:
    """Two releases may listen on the same port. A client whose connection the old one drops tries again."""
    with (
        site.serve("granian", WEB_CONCURRENCY="1") as old,
        site.serve("granian", WEB_CONCURRENCY="1", PORT=str(old.port), CONTENTAPI_WORKER_MAX_REQUESTS="100") as new,
    ):
        new.wait_for("Started worker-1")
        with load(old.port) as results:
            time.sleep(1)
            assert old.end() == 0
            time.sleep(1)

        assert_no_request_lost(results)

        first, replaced = new.workers, new.count("Replacing worker")
        with load(new.port) as results:
            new.wait_for("Replacing worker", times=replaced + 3)
            wait_until(lambda: not set(first) & set(new.workers), "the end of the first workers")
        assert_no_request_lost(results)
        assert results.total > 200
        assert results.closed > 0
        wait_until(lambda: len(new.workers) == 1, "the end of old workers")


def test_second_signal_ends_the_server_at_once(site: Site) -> None:
    with site.serve("granian", WEB_CONCURRENCY="1", CONTENTAPI_SHUTDOWN_TIMEOUT="600000") as server:
        os.kill(server.workers[0], signal.SIGSTOP)
        with open_and_send(server.port):
            server.process.send_signal(signal.SIGTERM)
            time.sleep(1.5)
            assert server.process.poll() is None

            def end_again() -> bool:
                server.process.send_signal(signal.SIGTERM)
                return server.process.poll() is not None

            # A busy master handles the first signal late, and takes the second for its copy: so there are many.
            wait_until(end_again, "the end, in three minutes and not in ten")


def test_shutdown_ends_in_time_with_a_hanging_worker(site: Site) -> None:
    limits = {"CONTENTAPI_SHUTDOWN_TIMEOUT": "2000", **SHORT}
    with site.serve("granian", WEB_CONCURRENCY="1", **limits) as server:
        os.kill(server.workers[0], signal.SIGSTOP)
        with open_and_send(server.port):
            start = time.monotonic()
            server.end()

        assert time.monotonic() - start > 1.5
