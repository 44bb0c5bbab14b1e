"""The embedded PostgreSQL server, which these tests start and stop in temporary folders."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from contentapi.db.embedded import server as embedded_server
from contentapi.db.embedded.server import EmbeddedServer

pytestmark = pytest.mark.processes

# Uses the server of the folder that its argument names until its standard input ends.
PROGRAM = """
import os, sys
from pathlib import Path
from contentapi.db.embedded.server import EmbeddedServer
print(EmbeddedServer(Path(sys.argv[1])).acquire(), flush=True)
if "fork" in sys.argv and os.fork() == 0:
    sys.exit()  # a worker that ends as gunicorn's do
if "fork" in sys.argv:
    os.wait()
    print("the worker has ended", flush=True)
sys.stdin.read()
"""
# Uses the server, and restarts it for each line of its standard input. With "fork", a forked worker does this.
RESTARTER = """
import os, sys, signal
from pathlib import Path
from threading import Thread
from contentapi.db.embedded.server import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]))
print(server.acquire(), flush=True)
if "fork" in sys.argv and os.fork():
    print(os.getpid(), flush=True)
    os.wait()
    sys.exit()
def restart():
    sys.stdout.write(f"{server.restart_if_down()}\\n")
    sys.stdout.flush()
for line in sys.stdin:
    threads = [Thread(target=restart) for _ in range(int(line))]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""


class Holder:
    """A process that uses the server of a folder."""

    def __init__(self, data: Path, *arguments: str, program: str = PROGRAM) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, str(data), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.socket_folder = self.line()

    def line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def restart(self, threads: int = 1) -> None:
        """Let threads of the process restart the server if it is down. `line` returns the result of each."""
        assert self.process.stdin
        self.process.stdin.write(f"{threads}\n")
        self.process.stdin.flush()

    def end(self) -> None:
        self.process.communicate(timeout=60)

    def kill(self) -> None:
        self.process.kill()
        self.end()

    def can_query(self) -> bool:
        with psycopg.connect(host=self.socket_folder, user="postgres", dbname="postgres") as connection:
            return connection.execute("SELECT true").fetchone() == (True,)


HoldIn = Callable[..., Holder]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "var"
    folder.mkdir()
    return folder / "postgres"


@pytest.fixture
def hold() -> Iterator[HoldIn]:
    holders: list[Holder] = []

    def start(data: Path, *arguments: str, program: str = PROGRAM) -> Holder:
        holders.append(Holder(data, *arguments, program=program))
        return holders[-1]

    yield start
    for holder in holders:
        if holder.process.poll() is None:
            holder.end()


def postmaster(data: Path) -> psutil.Process:
    return psutil.Process(int((data / "postmaster.pid").read_text().split()[0]))


def is_down(data: Path, socket_folder: str) -> bool:
    return not (data / "postmaster.pid").exists() and not Path(socket_folder).exists()


def test_last_of_two_processes_stops_the_server(data: Path, hold: HoldIn) -> None:
    first, second = hold(data), hold(data)
    assert first.socket_folder == second.socket_folder

    first.end()

    assert second.can_query()
    second.end()
    assert is_down(data, second.socket_folder)


def test_killed_process_does_not_keep_the_server_running(data: Path, hold: HoldIn) -> None:
    first, second = hold(data), hold(data)

    first.kill()
    second.end()

    assert is_down(data, second.socket_folder)


def test_new_process_takes_over_a_server_without_users(data: Path, hold: HoldIn) -> None:
    hold(data).kill()

    adopter = hold(data)

    assert adopter.can_query()
    adopter.end()
    assert is_down(data, adopter.socket_folder)


def test_new_process_restarts_a_killed_server(data: Path, hold: HoldIn) -> None:
    holder = hold(data)
    postmaster(data).kill()
    holder.kill()

    again = hold(data)

    assert again.can_query()
    assert again.socket_folder == holder.socket_folder


def test_record_with_a_reused_process_id_is_stale(data: Path, hold: HoldIn) -> None:
    hold(data).end()
    me = psutil.Process().pid
    record = [me, data, 1, 5432, "/nowhere", "", "0 0", "ready"]
    (data / "postmaster.pid").write_text("\n".join(map(str, record)) + "\n")

    holder = hold(data)

    assert holder.can_query()
    assert postmaster(data).pid != me


def test_incomplete_data_directory_is_created_again(data: Path, hold: HoldIn) -> None:
    half = data.with_name("postgres.new")
    half.mkdir()
    (half / "PG_VERSION").write_text("18\n")

    assert hold(data).can_query()
    assert not half.exists()


def test_forked_worker_that_ends_does_not_stop_the_server(data: Path, hold: HoldIn) -> None:
    holder = hold(data, "fork")

    assert holder.line() == "the worker has ended"
    assert holder.can_query()


@pytest.mark.parametrize("name", ["a space", "comma, 'quote' & (more); #", "ü", "long" * 50])
def test_server_starts_under_unusual_paths(tmp_path: Path, hold: HoldIn, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()

    assert hold(folder / "postgres").can_query()


def test_path_that_a_shell_would_expand_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "$(touch expanded)"
    folder.mkdir()

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder / "postgres")], capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert done.stderr.startswith("The path of the embedded PostgreSQL must not contain $")
    assert list(folder.iterdir()) == []


def kill(data: Path) -> int:
    """Kill the server as an OOM killer does. Returns its process id."""
    killed = postmaster(data)
    killed.kill()
    psutil.wait_procs([killed], timeout=10)
    return killed.pid


def test_process_restarts_a_killed_server_and_stops_it_at_its_end(data: Path, hold: HoldIn) -> None:
    holder = hold(data, program=RESTARTER)
    killed = kill(data)

    holder.restart()

    assert holder.line() == "True"
    assert postmaster(data).pid != killed
    assert holder.can_query()
    holder.end()
    assert is_down(data, holder.socket_folder)


def test_process_restarts_a_server_that_was_stopped(data: Path, hold: HoldIn) -> None:
    holder = hold(data, program=RESTARTER)
    stopped = postmaster(data)
    stopped.send_signal(signal.SIGQUIT)
    psutil.wait_procs([stopped], timeout=10)

    holder.restart()

    assert holder.line() == "True"
    assert holder.can_query()


def test_running_server_is_not_restarted(data: Path, hold: HoldIn) -> None:
    holder = hold(data, program=RESTARTER)
    running = postmaster(data)

    holder.restart()

    assert holder.line() == "True"
    assert postmaster(data) == running


def test_concurrent_restarts_start_one_server_and_the_last_user_stops_it(data: Path, hold: HoldIn) -> None:
    holders = [hold(data, program=RESTARTER) for _ in range(3)]
    kill(data)

    for holder in holders:
        holder.restart(threads=3)

    assert [holder.line() for holder in holders for _ in range(3)] == ["True"] * 9
    started = postmaster(data)
    assert {process.pid for process in psutil.process_iter() if is_postmaster(process, data)} == {started.pid}
    for holder in holders[:2]:
        holder.end()
    assert postmaster(data) == started
    assert holders[2].can_query()
    holders[2].end()
    assert is_down(data, holders[2].socket_folder)


def test_forked_worker_that_restarted_the_server_does_not_stop_it(data: Path, hold: HoldIn) -> None:
    parent = hold(data, "fork", program=RESTARTER)
    other = hold(data)
    parent.line()
    kill(data)

    parent.restart()
    assert parent.line() == "True"
    parent.end()  # the worker, and then the parent

    assert other.can_query()
    other.end()
    assert is_down(data, other.socket_folder)


def test_forked_worker_stops_the_server_if_its_parent_was_killed(data: Path, hold: HoldIn) -> None:
    parent = hold(data, "fork", program=RESTARTER)
    [worker] = psutil.Process(int(parent.line())).children()
    kill(data)
    parent.restart()
    assert parent.line() == "True"

    parent.process.kill()
    parent.process.wait(10)

    assert parent.can_query()
    parent.process.communicate(timeout=30)  # until the worker has closed its end
    psutil.wait_procs([worker], timeout=30)
    assert is_down(data, parent.socket_folder)


def test_failed_restart_writes_one_log_line_and_is_not_retried_at_once(
    data: Path, hold: HoldIn, caplog: pytest.LogCaptureFixture
) -> None:
    hold(data)
    server = EmbeddedServer(data)
    server.acquire()
    kill(data)
    configuration = data / "postgresql.conf"
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
    server.release()


def test_process_that_released_the_server_does_not_restart_it(data: Path) -> None:
    server = EmbeddedServer(data)
    folder = server.acquire()
    server.release()

    is_up = server.restart_if_down()

    assert not is_up
    assert is_down(data, folder)


def test_restart_waits_a_limited_time_for_another_process(
    data: Path, hold: HoldIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_server, "RESTART_PATIENCE", 0.3)
    hold(data)
    server = EmbeddedServer(data)
    server.acquire()
    kill(data)
    folder = os.open(data.parent, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)

    began = time.monotonic()
    is_up = server.restart_if_down()
    took = time.monotonic() - began
    os.close(folder)

    assert not is_up
    assert 0.3 <= took < 5
    server.release()


def is_postmaster(process: psutil.Process, data: Path) -> bool:
    """Return whether a process is the postmaster of this data directory, not one of its children."""
    try:
        return process.name() == "postgres" and "-D" in process.cmdline() and str(data) in process.cmdline()
    except psutil.Error:
        return False
