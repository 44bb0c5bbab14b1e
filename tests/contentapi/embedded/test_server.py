"""The embedded PostgreSQL, really started and stopped, in folders of the tests' own."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

pytestmark = pytest.mark.processes

# Holds the server that its argument names until its standard input ends.
PROGRAM = """
import os, sys
from pathlib import Path
from contentapi.embedded.server import EmbeddedServer
print(EmbeddedServer(Path(sys.argv[1])).hold(), flush=True)
if "fork" in sys.argv and os.fork() == 0:
    sys.exit()  # a worker that ends as gunicorn's do
if "fork" in sys.argv:
    os.wait()
    print("the worker has ended", flush=True)
sys.stdin.read()
"""


class Holder:
    """A process that holds the server of a folder."""

    def __init__(self, data: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(data), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.socket_folder = self.line()

    def line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

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

    def start(data: Path, *arguments: str) -> Holder:
        holders.append(Holder(data, *arguments))
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
