"""The embedded PostgreSQL, really started and stopped, in folders of the tests' own."""

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

# Holds the server that its argument names until its standard input ends.
PROGRAM = """
import os, sys
from pathlib import Path
from contentapi.db.embedded.server import EmbeddedServer
print(EmbeddedServer(Path(sys.argv[1])).hold(), flush=True)
if "fork" in sys.argv and os.fork() == 0:
    sys.exit()  # a worker that ends as gunicorn's do
if "fork" in sys.argv:
    os.wait()
    print("the worker has ended", flush=True)
sys.stdin.read()
"""
# Holds the server, and starts it again at each line of its standard input. With "fork", a forked worker does so.
RESTARTER = """
import os, sys, signal
from pathlib import Path
from threading import Thread
from contentapi.db.embedded.server import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]))
print(server.hold(), flush=True)
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
    """A process that holds the server of a folder."""

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
        """Let threads of the process start the server again if it is down; `line` returns what each reports."""
        assert self.process.stdin
        self.process.stdin.write(f"{threads}\n")
        self.process.stdin.flush()

    def end(self) -> None:
        self.process.communicate(timeout=60)

    def kill(self) -> None:
        self.process.kill()
        self.end()

    def answers(self) -> bool:
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


def test_the_last_of_two_processes_stops_the_server(data: Path, hold: HoldIn) -> None:
    first, second = hold(data), hold(data)
    assert first.socket_folder == second.socket_folder

    first.end()

    assert second.answers()
    second.end()
    assert is_down(data, second.socket_folder)


def test_a_holder_that_was_killed_does_not_keep_the_server_up(data: Path, hold: HoldIn) -> None:
    first, second = hold(data), hold(data)

    first.kill()
    second.end()

    assert is_down(data, second.socket_folder)


def test_a_server_without_holders_is_adopted(data: Path, hold: HoldIn) -> None:
    hold(data).kill()

    adopter = hold(data)

    assert adopter.answers()
    adopter.end()
    assert is_down(data, adopter.socket_folder)


def test_a_killed_server_is_started_again(data: Path, hold: HoldIn) -> None:
    holder = hold(data)
    postmaster(data).kill()
    holder.kill()

    again = hold(data)

    assert again.answers()
    assert again.socket_folder == holder.socket_folder


def test_a_stale_record_whose_number_is_another_process_now_is_no_server(data: Path, hold: HoldIn) -> None:
    hold(data).end()
    me = psutil.Process().pid
    record = [me, data, 1, 5432, "/nowhere", "", "0 0", "ready"]
    (data / "postmaster.pid").write_text("\n".join(map(str, record)) + "\n")

    holder = hold(data)

    assert holder.answers()
    assert postmaster(data).pid != me


def test_data_that_were_half_made_are_made_again(data: Path, hold: HoldIn) -> None:
    half = data.with_name("postgres.new")
    half.mkdir()
    (half / "PG_VERSION").write_text("18\n")

    assert hold(data).answers()
    assert not half.exists()


def test_a_forked_worker_that_ends_leaves_the_server_to_its_parent(data: Path, hold: HoldIn) -> None:
    holder = hold(data, "fork")

    assert holder.line() == "the worker has ended"
    assert holder.answers()


@pytest.mark.parametrize("name", ["a space", "comma, 'quote' & (more); #", "ü", "long" * 50])
def test_any_path_will_do(tmp_path: Path, hold: HoldIn, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()

    assert hold(folder / "postgres").answers()


def test_a_path_that_a_shell_would_expand_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "$(touch expanded)"
    folder.mkdir()

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder / "postgres")], capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert done.stderr.startswith(f"The embedded PostgreSQL cannot live under {folder}")
    assert list(folder.iterdir()) == []


def kill(data: Path) -> int:
    """Kill the server as an OOM killer does; return its process id."""
    killed = postmaster(data)
    killed.kill()
    psutil.wait_procs([killed], timeout=10)
    return killed.pid


def test_a_holder_starts_a_killed_server_again_and_stops_it_at_its_end(data: Path, hold: HoldIn) -> None:
    holder = hold(data, program=RESTARTER)
    killed = kill(data)

    holder.restart()

    assert holder.line() == "True"
    assert postmaster(data).pid != killed
    assert holder.answers()
    holder.end()
    assert is_down(data, holder.socket_folder)


def test_a_holder_starts_a_server_again_that_somebody_stopped(data: Path, hold: HoldIn) -> None:
    holder = hold(data, program=RESTARTER)
    stopped = postmaster(data)
    stopped.send_signal(signal.SIGQUIT)
    psutil.wait_procs([stopped], timeout=10)

    holder.restart()

    assert holder.line() == "True"
    assert holder.answers()


def test_a_running_server_is_not_started_again(data: Path, hold: HoldIn) -> None:
    holder = hold(data, program=RESTARTER)
    running = postmaster(data)

    holder.restart()

    assert holder.line() == "True"
    assert postmaster(data) == running


def test_processes_and_threads_that_restart_at_once_start_one_server_and_the_last_stops_it(
    data: Path, hold: HoldIn
) -> None:
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
    assert holders[2].answers()
    holders[2].end()
    assert is_down(data, holders[2].socket_folder)


def test_a_worker_that_started_the_server_again_leaves_it_to_its_parent(data: Path, hold: HoldIn) -> None:
    parent = hold(data, "fork", program=RESTARTER)
    other = hold(data)
    parent.line()
    kill(data)

    parent.restart()
    assert parent.line() == "True"
    parent.end()  # the worker, and then the parent

    assert other.answers()
    other.end()
    assert is_down(data, other.socket_folder)


def test_a_worker_that_started_the_server_again_stops_it_if_its_parent_was_killed(data: Path, hold: HoldIn) -> None:
    parent = hold(data, "fork", program=RESTARTER)
    [worker] = psutil.Process(int(parent.line())).children()
    kill(data)
    parent.restart()
    assert parent.line() == "True"

    parent.process.kill()
    parent.process.wait(10)

    assert parent.answers()
    parent.process.communicate(timeout=30)  # until the worker has closed its end
    psutil.wait_procs([worker], timeout=30)
    assert is_down(data, parent.socket_folder)


def test_a_server_that_cannot_be_started_again_is_one_log_line_and_not_tried_at_once_again(
    data: Path, hold: HoldIn, caplog: pytest.LogCaptureFixture
) -> None:
    hold(data)
    server = EmbeddedServer(data)
    server.hold()
    kill(data)
    configuration = data / "postgresql.conf"
    whole = configuration.read_text()
    configuration.write_text("not a setting\n")

    attempts = [server.restart_if_down() for _ in range(3)]

    assert attempts == [False] * 3
    [record] = caplog.records
    assert record.getMessage().startswith("The embedded PostgreSQL cannot be started again: ")
    assert "\n" not in record.getMessage()
    configuration.write_text(whole)
    server._no_restart_before = 0  # as after the pause
    assert server.restart_if_down()
    server.release()


def test_a_process_that_has_released_the_server_does_not_start_it_again(data: Path) -> None:
    server = EmbeddedServer(data)
    folder = server.hold()
    server.release()

    is_up = server.restart_if_down()

    assert not is_up
    assert is_down(data, folder)


def test_a_restart_waits_a_bounded_time_for_another_process(
    data: Path, hold: HoldIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_server, "RESTART_PATIENCE", 0.3)
    hold(data)
    server = EmbeddedServer(data)
    server.hold()
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
    """Say whether a process is a server on this data itself, not one of its children."""
    try:
        return process.name() == "postgres" and "-D" in process.cmdline() and str(data) in process.cmdline()
    except psutil.Error:
        return False
