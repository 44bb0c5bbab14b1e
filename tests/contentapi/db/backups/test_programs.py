"""The programs of PostgreSQL that fit a server."""

import re
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from contentapi.db.backups import database, dump


@pytest.mark.parametrize(
    ("name", "server", "chosen"),
    [("pg_dump", 15, 15), ("pg_dump", 16, 17), ("pg_restore", 15, 15), ("pg_restore", 17, 18)],
)
def test_program_fits_the_server(monkeypatch: pytest.MonkeyPatch, name: str, server: int, chosen: int) -> None:
    installed = [database.Program(Path(f"/{major}"), major, f"{major}.1") for major in (18, 15, 17, 14)]
    monkeypatch.setattr(database, "list_paths", lambda _: range(len(installed)))
    monkeypatch.setattr(database, "read_version", installed.__getitem__)

    assert database.find_program(name, server).major == chosen


def test_server_without_a_program_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "list_paths", lambda _: [])

    with pytest.raises(CommandError, match=r"No pg_restore fits PostgreSQL 16\. Found only: none"):
        database.find_program("pg_restore", 16)


@pytest.mark.django_db
def test_backup_that_its_server_cannot_restore_is_noted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    reported: list[str] = []
    (archive := tmp_path / "archive").touch()
    monkeypatch.setattr(database, "SETS_TRANSACTION_TIMEOUT", 99)
    monkeypatch.setattr(database, "find_program", lambda *_: database.Program(Path("pg_dump"), 99, "99.1"))
    monkeypatch.setattr(dump, "dump_snapshot", lambda *_: {})
    monkeypatch.setattr(database, "run_program", lambda *_: "")

    dump.write_archive(tmp_path / "demo.dump", archive, reported.append)

    assert re.search(r"restored only on PostgreSQL 99 or newer\. Install postgresql-client-[0-9]{2}\.", reported[1])
