"""The process of streams: what clients receive, and how streams end and resume."""

import re
import signal
import time
from collections.abc import Iterator

import psutil
import psycopg
import pytest

from tests.deployment.live_server import run_site
from tests.deployment.processes import wait_until
from tests.deployment.template import Template
from tests.e2e.load import PATIENCE
from tests.e2e.streams import StreamClient, StreamProcess, list_cursors, make_authors, run_streams

pytestmark = pytest.mark.servers
MULTIPART = 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0,application/json'


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, template: Template) -> Iterator[StreamProcess]:
    with run_site(tmp_path_factory.mktemp("streams") / "site", template) as site, run_streams(site) as running:
        yield running


@pytest.fixture
def streams(running: StreamProcess) -> Iterator[StreamProcess]:
    """The process, which runs when a test begins."""
    if running.process.poll() is not None:
        running.start()
    yield running
    running.close_clients()


def test_event_arrives_in_each_format(streams: StreamProcess) -> None:
    clients = {"rest": streams.follow("type=author.*"), "events": streams.subscribe()}
    multipart = streams.subscribe(accept=MULTIPART)
    make_authors(streams.site, 2)
    cursors = list_cursors(streams.site)

    for client in clients.values():
        client.read_until(rb"\ndata:", times=2)
        assert client.cursors == cursors[-2:]
    for cursor in cursors[-2:]:
        multipart.read_until(rf'"cursor" ?: ?"{cursor}"'.encode())
    assert b"HTTP/1.1 200" in multipart.raw


def test_client_resumes_after_the_process_was_killed(streams: StreamProcess) -> None:
    first = streams.follow("type=author.*")
    make_authors(streams.site, 3)
    first.read_until(rb"\ndata:", times=3)
    streams.process.kill()
    streams.process.wait()
    make_authors(streams.site, 100)
    streams.start()
    second = streams.follow("type=author.*", Last_Event_ID=first.cursors[1])
    make_authors(streams.site, 3)
    second.read_until(rb"\ndata:", times=104)

    cursors = list_cursors(streams.site)
    assert first.cursors == cursors[-106:-103]
    assert second.cursors == cursors[-104:]


def test_stream_goes_on_when_postgresql_was_killed(streams: StreamProcess) -> None:
    client = streams.follow("type=author.*")
    make_authors(streams.site, 1)
    postmaster = psutil.Process(int((streams.site.var / "postgres/postmaster.pid").read_text().split()[0]))
    postmaster.kill()
    postmaster.wait()
    wait_until(lambda: can_connect(streams), "the restart of PostgreSQL")
    make_authors(streams.site, 1)
    client.read_until(rb"\ndata:", times=2)

    assert client.cursors == list_cursors(streams.site)[-2:]


def can_connect(streams: StreamProcess) -> bool:
    """Return whether PostgreSQL runs. The processes start it again."""
    try:
        streams.site.connect().close()
    except psycopg.OperationalError:
        return False
    return True


def test_stream_ends_with_its_key(streams: StreamProcess) -> None:
    key = streams.site.manage("create_api_key", "reader@example.com", "--name", "streams")
    with_key, without = streams.follow(X_API_Key=key), streams.follow()
    start = time.monotonic()
    streams.site.manage("revoke_api_key", key.rpartition("_")[0])
    revoked = time.monotonic()

    with_key.read_to_end()
    assert time.monotonic() - revoked < 60, revoked - start  # 5 s on an idle machine: `benchmarks.streams`
    assert with_key.raw.endswith(b"0\r\n\r\n")
    make_authors(streams.site, 1)
    without.read_until(rb"\ndata:")


def test_locked_user_gets_no_event_after_the_lock(streams: StreamProcess) -> None:
    email = "editor@example.com"
    key = streams.site.manage("create_api_key", email, "--name", "streams")
    locked, other = streams.follow("type=author.*", X_API_Key=key), streams.follow("type=author.*")
    streams.site.manage("lock_user", email)
    make_authors(streams.site, 3)

    other.read_until(rb"\ndata:", times=3)
    locked.read_to_end()
    assert b"\ndata:" not in locked.raw
    streams.site.manage("unlock_user", email)


def test_sigterm_ends_all_streams_and_the_process(streams: StreamProcess) -> None:
    clients = [streams.follow(), streams.subscribe(), streams.subscribe(accept=MULTIPART)]
    streams.process.send_signal(signal.SIGTERM)

    for client in clients:
        client.read_to_end()
        assert client.raw.endswith(b"0\r\n\r\n")
        assert b"complete" not in client.raw
    assert streams.process.wait(PATIENCE) == 0


def test_half_sent_requests_are_ended(streams: StreamProcess) -> None:
    body = streams.open("POST", "/graphql", {"Content-Type": "application/json", "Content-Length": "99"})
    headers = streams.open("GET", "/events/stream\x20HTTP/1.1\r\nHost: localhost\r\nX-Not")

    assert body.read_to_end() < 60  # 5 s on an idle machine
    assert b"400" in body.raw[:20]
    assert headers.read_to_end() < 60


def test_ticket_of_the_server_opens_one_stream(streams: StreamProcess) -> None:
    with (
        streams.site.serve("granian") as server,
        StreamClient(server.port, "POST", "/events/tickets", {"X-API-Key": server.site.key}) as client,
    ):
        ticket = re.search(rb'"ticket":"([^"]+)"', client.read_until(rb"expiresAt"))
        assert ticket
        streams.follow(f"ticket={ticket[1].decode()}")  # before the server has ended: a ticket lives for 30 seconds
    second = streams.open("GET", f"/events/stream?ticket={ticket[1].decode()}")
    second.read_to_end()
    assert second.raw.startswith(b"HTTP/1.1 401")
