"""The embedded PostgreSQL server: start, shared use and stop."""

import sys
from pathlib import Path

import psutil
import pytest

from tests.contentapi.db.embedded.server_users import PROGRAM, StartUser, get_postmaster, is_down
from tests.deployment.processes import run_program

pytestmark = pytest.mark.servers


def test_last_of_two_processes_stops_the_server(data_directory: Path, start_user: StartUser) -> None:
    first, second = start_user(data_directory), start_user(data_directory)
    assert first.socket_folder == second.socket_folder

    first.kill()

    assert second.can_query()
    second.finish()
    assert is_down(data_directory, second.socket_folder)


def test_new_process_takes_over_a_server_without_users(data_directory: Path, start_user: StartUser) -> None:
    start_user(data_directory).kill()

    adopter = start_user(data_directory)

    assert adopter.can_query()
    adopter.finish()
    assert is_down(data_directory, adopter.socket_folder)


def test_new_process_restarts_a_killed_server(data_directory: Path, start_user: StartUser) -> None:
    user = start_user(data_directory)
    get_postmaster(data_directory).kill()
    user.kill()

    again = start_user(data_directory)

    assert again.can_query()
    assert again.socket_folder == user.socket_folder


def test_record_with_a_reused_process_id_is_stale(data_directory: Path, start_user: StartUser) -> None:
    me = psutil.Process().pid
    record = [me, data_directory, 1, 5432, "/nowhere", "", "0 0", "ready"]
    (data_directory / "postmaster.pid").write_text("\n".join(map(str, record)) + "\n")

    user = start_user(data_directory)

    assert user.can_query()
    assert get_postmaster(data_directory).pid != me


def test_incomplete_data_directory_is_created_again(tmp_path: Path, start_user: StartUser) -> None:
    half = tmp_path / "var/postgres.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")

    assert start_user(tmp_path / "var/postgres").can_query()
    assert not half.exists()


@pytest.mark.parametrize("name", ["comma, 'quote' & (more); #", "ü" + "long" * 50])
def test_server_starts_under_unusual_paths(tmp_path: Path, start_user: StartUser, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()

    assert start_user(folder / "postgres").can_query()


def test_path_that_a_shell_would_expand_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "$(touch expanded)"
    folder.mkdir()

    done = run_program(sys.executable, "-c", PROGRAM, folder / "postgres")

    assert done.returncode == 1
    assert done.stderr.startswith("The path of the embedded PostgreSQL must not contain $")
    assert list(folder.iterdir()) == []
