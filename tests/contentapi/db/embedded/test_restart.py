"""The restart of an embedded PostgreSQL server that was killed or stopped."""

import signal
from pathlib import Path

import psutil
import pytest

from contentapi.db.embedded.server import EmbeddedServer
from tests.contentapi.db.embedded.server_users import (
    RESTARTER,
    StartUser,
    get_postmaster,
    is_down,
    is_postmaster,
    kill_server,
)

pytestmark = pytest.mark.servers


def test_process_restarts_a_server_that_ended_and_stops_it_at_its_end(
    data_directory: Path, start_user: StartUser
) -> None:
    user = start_user(data_directory, program=RESTARTER)
    ended = get_postmaster(data_directory)
    ended.send_signal(signal.SIGQUIT)
    psutil.wait_procs([ended], timeout=10)

    user.restart()

    assert user.read_line() == "True"
    assert get_postmaster(data_directory).pid != ended.pid
    assert user.can_query()
    user.finish()
    assert is_down(data_directory, user.socket_folder)


def test_concurrent_restarts_start_one_server_and_the_last_user_stops_it(
    data_directory: Path, start_user: StartUser
) -> None:
    users = [start_user(data_directory, program=RESTARTER) for _ in range(3)]
    kill_server(data_directory)

    for user in users:
        user.restart(threads=3)

    assert [user.read_line() for user in users for _ in range(3)] == ["True"] * 9
    started = get_postmaster(data_directory)
    assert {process.pid for process in psutil.process_iter() if is_postmaster(process, data_directory)} == {started.pid}
    for user in users[:2]:
        user.finish()
    assert get_postmaster(data_directory) == started
    assert users[2].can_query()
    users[2].finish()
    assert is_down(data_directory, users[2].socket_folder)


def test_forked_worker_that_restarted_the_server_does_not_stop_it(data_directory: Path, start_user: StartUser) -> None:
    parent = start_user(data_directory, "fork", program=RESTARTER)
    other = start_user(data_directory)
    parent.read_line()
    kill_server(data_directory)

    parent.restart()
    assert parent.read_line() == "True"
    parent.finish()  # the worker, and then the parent

    assert other.can_query()
    other.finish()
    assert is_down(data_directory, other.socket_folder)


def test_failed_restart_writes_one_log_line_and_is_not_retried_at_once(
    data_directory: Path, start_user: StartUser, caplog: pytest.LogCaptureFixture
) -> None:
    start_user(data_directory)
    server = EmbeddedServer(data_directory)
    server.acquire()
    kill_server(data_directory)
    configuration = data_directory / "postgresql.conf"
    original = configuration.read_text()
    configuration.write_text("not a setting\n")

    attempts = [server.restart_if_down() for _ in range(3)]

    assert attempts == [False] * 3
    [record] = caplog.records
    assert record.getMessage().startswith("The embedded PostgreSQL cannot be started again: ")
    assert "\n" not in record.getMessage()
    configuration.write_text(original)
    server._no_restart_before = 0  # as after the pause
    assert server.restart_if_down()
    assert caplog.messages[1:] == ["The embedded PostgreSQL was not running and has been started again."]
    server.release()
