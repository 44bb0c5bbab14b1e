"""A PostgreSQL that does not answer: its processes are stopped by SIGSTOP, as if its machine hung."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import psutil
import psycopg
import pytest
from django.db import connection as django_connection

from contentapi.conf.timeouts import ANSWER_LIMIT, CONNECT_LIMIT, WATCH_INTERVAL
from contentapi.db.watch import link, primary
from contentapi.db.watch.link import DatabaseSilent
from contentapi.db.watch.primary import build_end_of_backends
from contentapi.db.watch.servers import Servers
from tests.contentapi.db.embedded.server_users import ServerUser, get_postmaster
from tests.deployment.processes import wait_until

PATIENCE = 60  # seconds, for a busy machine


def connect(parameters: dict[str, Any]) -> psycopg.Connection[Any]:
    return psycopg.connect(**parameters, autocommit=True)


class Server:
    """A PostgreSQL of these tests, and the watch of a process that uses it."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.user = ServerUser(data)
        self.parameters: dict[str, Any] = {"host": self.user.socket_folder, "user": "postgres", "dbname": "postgres"}
        self.begin()

    def begin(self) -> None:
        self.watch = Servers()
        self.primary = self.watch.primary
        self.connections: list[psycopg.Connection[Any]] = []

    def connect(self) -> psycopg.Connection[Any]:
        connection: psycopg.Connection[Any] = self.watch.connect("default", self.parameters, connect)
        self.connections.append(connection)
        return connection

    def finish(self) -> None:
        self.watch.stopping.set()
        if self.watch.thread is not None:
            self.watch.thread.join()
        if self.primary.answer is not None:
            self.primary.answer.exception()  # waits
        self.primary.link.close()
        for connection in self.connections:
            connection.close()

    @contextmanager
    def suspended(self, *, postmaster_only: bool = False) -> Iterator[None]:
        postmaster = get_postmaster(self.data)
        postmaster.suspend()
        wait_for(lambda: postmaster.status() == psutil.STATUS_STOPPED)  # it creates no more processes
        children = [] if postmaster_only else postmaster.children()
        for child in children:
            with suppress(psutil.NoSuchProcess):  # it ends just now
                child.suspend()
        try:
            yield
        finally:
            for process in (postmaster, *children):
                with suppress(psutil.NoSuchProcess):
                    process.resume()


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("watch") / "postgres")
    yield server
    server.user.finish()


@pytest.fixture
def server(own_server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(link, "build_parameters", lambda *_: own_server.parameters)
    monkeypatch.setattr(primary, "CONNECT_LIMIT", PATIENCE)  # a busy machine
    own_server.begin()
    yield own_server
    own_server.finish()


def wait_for(condition: Callable[[], object]) -> None:
    wait_until(condition, "the change", PATIENCE)


def can_connect(server: Server) -> bool:
    try:
        server.connect().close()
    except psycopg.OperationalError:
        return False
    return True


def execute_in_thread(pool: ThreadPoolExecutor, connection: psycopg.Connection[Any], sql: bytes) -> "Future[Any]":
    """Execute a statement in the way of a request: in `PQexec`, which has no time limit."""
    return pool.submit(connection.pgconn.exec_, sql)


def never_connect(_: dict[str, Any]) -> psycopg.Connection[Any]:
    raise AssertionError("A request must not try to connect to a silent database.")


def test_limits_notice_a_silent_database_within_two_seconds() -> None:
    assert 3 * WATCH_INTERVAL + ANSWER_LIMIT < 2
    assert CONNECT_LIMIT < 2


@pytest.mark.servers
def test_waiting_statement_fails_while_the_server_hangs(server: Server) -> None:
    connection, idle = server.connect(), server.connect()
    wait_for(lambda: server.primary.is_pooled is False and server.primary.link.connection)
    with ThreadPoolExecutor() as pool:
        with server.suspended():
            result = execute_in_thread(pool, connection, b"SELECT 1").result(timeout=PATIENCE)
            with pytest.raises(DatabaseSilent):
                server.primary.connect(server.parameters, never_connect)

        assert b"server closed the connection" in result.error_message
        assert idle.pgconn.exec_(b"SELECT 1").error_message  # it was cut, too
        wait_for(lambda: can_connect(server))
        assert not server.primary.is_silent


@pytest.mark.servers
def test_server_that_hangs_before_the_first_probe_is_noticed(server: Server) -> None:
    connection = server.connect()
    with ThreadPoolExecutor() as pool, server.suspended():
        result = execute_in_thread(pool, connection, b"SELECT 1").result(timeout=PATIENCE)

    assert b"server closed the connection" in result.error_message


@pytest.mark.servers
def test_slow_statement_is_not_cut_while_the_server_answers(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(primary, "ANSWER_LIMIT", 3)  # a busy machine answers a probe late
    connection = server.connect()
    with ThreadPoolExecutor() as pool:
        result = execute_in_thread(pool, connection, b"SELECT pg_sleep(5), 7").result(timeout=PATIENCE)

    assert result.get_value(0, 1) == b"7"
    assert not server.primary.is_silent


@pytest.mark.servers
def test_server_that_accepts_no_connections_leaves_the_present_ones(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(primary, "ANSWER_LIMIT", PATIENCE)
    connection = server.connect()
    monkeypatch.setattr(primary, "CONNECT_LIMIT", CONNECT_LIMIT)
    with server.suspended(postmaster_only=True):
        with pytest.raises(DatabaseSilent):
            server.connect()
        for _ in range(10):
            assert connection.execute("SELECT 1").fetchone() == (1,)
            time.sleep(0.2)

    wait_for(lambda: can_connect(server))


@pytest.mark.servers
def test_server_that_is_killed_and_started_again_is_used_again(server: Server) -> None:
    server.connect()
    get_postmaster(server.data).kill()
    wait_for(lambda: not can_connect(server))

    server.user.finish()
    server.user = ServerUser(server.data)

    wait_for(lambda: can_connect(server))
    assert not server.primary.is_silent


@pytest.mark.django_db(transaction=True)
def test_backend_of_a_lost_connection_is_ended_and_no_other() -> None:
    django_connection.ensure_connection()
    parameters = django_connection.get_connection_params()
    known = {name: parameters[name] for name in ("host", "port", "user", "dbname")}
    with connect(known) as lost, connect(known) as other:
        # A connection by a Unix socket has the port -1.
        other.execute(build_end_of_backends({(lost.info.backend_pid, -1), (other.info.backend_pid, 7)}))

        with pytest.raises(psycopg.OperationalError, match="terminating connection"):
            lost.execute("SELECT 1")
        assert other.execute("SELECT 1").fetchone() == (1,)


def test_backend_whose_connection_is_cut_during_a_question_is_ended_by_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def begin(_: object, question: str, __: float) -> "Future[Any]":
        asked.append(question)
        return Future()

    monkeypatch.setattr(link, "call_in_thread", begin)
    watched = Servers().primary
    monkeypatch.setattr(watched.link, "connection", Mock(info=Mock(backend_pid=1)))

    watched.ask()
    watched.lost = {(4711, 50122)}
    for _ in range(2):
        assert watched.answer is not None
        watched.answer.set_result([(1,)])
        watched.asked_at = float("-inf")
        watched.update()

    assert ["4711" in question for question in asked] == [False, True]


@pytest.mark.servers
@pytest.mark.parametrize(("is_pooled", "is_gone"), [(False, False), (True, True)])
def test_new_connection_shows_that_the_primary_is_back_unless_a_pooler_accepts_it(
    server: Server, monkeypatch: pytest.MonkeyPatch, *, is_pooled: bool, is_gone: bool
) -> None:
    monkeypatch.setattr(server.watch, "start", lambda: None)  # the questions of its thread show it later
    server.primary.is_pooled, server.primary.failures = is_pooled, primary.GONE_AFTER
    assert server.primary.is_gone

    server.connect()

    assert server.primary.is_gone == is_gone
