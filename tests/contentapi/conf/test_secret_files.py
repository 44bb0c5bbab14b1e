"""Secret files: created once, private, written atomically."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from contentapi.conf.secret_files import read_or_create, write_atomically

PROGRAM = """
import pathlib, secrets, sys
from contentapi.conf.secret_files import read_or_create
sys.stdin.readline()
print(read_or_create(pathlib.Path(sys.argv[1]), secrets.token_hex))
"""


def refuse() -> str:
    raise AssertionError("The value exists already.")


def test_value_is_created_once_and_then_read(tmp_path: Path) -> None:
    path = tmp_path / "var" / "secret"

    first = read_or_create(path, lambda: "one")
    second = read_or_create(path, refuse)

    assert (first, second, path.read_text()) == ("one", "one", "one")


@pytest.mark.parametrize("value", ["", "a\nb\n", "schön", "x" * 100_000])
def test_written_value_is_read_unchanged(tmp_path: Path, value: str) -> None:
    path = tmp_path / "secret"

    write_atomically(path, value)

    assert read_or_create(path, refuse) == value


def test_file_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    created, existing = tmp_path / "created", tmp_path / "existing"
    existing.write_text("open to all")
    existing.chmod(0o644)

    read_or_create(created, lambda: "secret")
    write_atomically(existing, "secret")

    assert [oct(path.stat().st_mode & 0o777) for path in (created, existing)] == ["0o600", "0o600"]


def test_write_replaces_the_value_and_leaves_no_draft_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "secret"

    read_or_create(path, lambda: "one")
    write_atomically(path, "two")

    assert read_or_create(path, refuse) == "two"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.servers
def test_concurrent_processes_get_the_same_value(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "secret")]
    processes = [
        subprocess.Popen(command, cwd=settings.BASE_DIR, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]

    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    values = {process.communicate(timeout=60)[0].strip() for process in processes}

    assert values == {(tmp_path / "secret").read_text()}
