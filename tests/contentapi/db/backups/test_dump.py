"""The command `backup`: complete files only, readable by their owner only, and no password for others to see."""

import json
import os
import signal
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.core.management.base import CommandError

from contentapi.db.backups import dump
from contentapi.db.embedded.programs import PROGRAMS
from tests.contentapi.db.backups.operators import Operator, ignore, is_waiting, require_error, require_success
from tests.deployment.processes import PATIENCE, wait_until

pytestmark = pytest.mark.servers
TRUNCATING_DUMP = f"""#!/bin/sh
"{PROGRAMS}/pg_dump" "$@" || exit
for option; do case "$option" in --file=*) truncate --size=-3000 "${{option#--file=}}";; esac; done
"""


def refuse(path: Path, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        dump.write_backup(path, replace=False, report=ignore)


def test_backup_prints_the_rows_of_each_table(operator: Operator, tmp_path: Path) -> None:
    path = tmp_path / "a backup.dump"

    lines = require_success(operator.manage("source", "backup", str(path))).splitlines()

    manifest = json.loads((tmp_path / "a backup.dump.json").read_text())
    tables = {name: len(rows) for name, rows in operator.read_rows("source").items()}
    assert {f"public.{name}": rows for name, rows in tables.items()} == manifest["tables"]
    assert [line.split() for line in lines] == [[str(rows), name] for name, rows in manifest["tables"].items()]
    assert manifest["archive"]["bytes"] == path.stat().st_size


def test_backup_is_readable_by_its_owner_only(archive: Path) -> None:
    files = [archive, archive.with_name("demo.dump.json"), archive.with_name("demo.dump.media.tar")]

    assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o600] * 3
    assert sorted(archive.parent.iterdir()) == files  # and nothing else is left


def test_existing_file_is_replaced_only_with_force(use: Callable[[str], None], tmp_path: Path) -> None:
    path = tmp_path / "demo.dump"
    path.write_text("an older backup")
    use("source")

    refuse(path, r"exists\. Name another file, or replace it with --force\.")
    assert path.read_text() == "an older backup"
    dump.write_backup(path, replace=True, report=ignore)
    assert path.read_bytes().startswith(b"PGDMP")


def test_backup_that_has_ended_meanwhile_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "demo.dump"

    def write_archive(_: Path, archive: Path, __: Any) -> dump.Manifest:
        archive.write_text("mine")
        path.write_text("another backup")
        return dump.Manifest("18", {}, dump.Archive(4, ""))

    monkeypatch.setattr(dump, "write_archive", write_archive)
    refuse(path, "exists")
    assert path.read_text() == "another backup"


def test_unsuitable_path_is_an_error(tmp_path: Path) -> None:
    refuse(tmp_path / "missing/demo.dump", "There is no folder")
    refuse(tmp_path, "is a folder")


def test_database_without_our_tables_is_an_error(
    operator: Operator, use: Callable[[str], None], tmp_path: Path
) -> None:
    use(database := operator.create_database())

    refuse(tmp_path / "demo.dump", rf"The database {database} has no tables of this application\.")

    assert list(tmp_path.iterdir()) == []


def test_unreachable_database_is_an_error_without_the_password(operator: Operator, tmp_path: Path) -> None:
    url = "postgresql://ines:hidden@127.0.0.1:1/shop"

    done = operator.manage("source", "backup", str(tmp_path / "demo.dump"), DATABASE_URL=url)

    assert "Cannot connect to the database." in require_error(done)
    assert "hidden" not in done.stderr


class BlockedBackup:
    """A backup that has begun and cannot end: another transaction has locked the table of posts."""

    def __init__(self, operator: Operator, path: Path, **variables: str) -> None:
        self.lock = operator.connect("source")
        self.lock.autocommit = False
        self.lock.execute("LOCK TABLE blog_post IN ACCESS EXCLUSIVE MODE")
        self.process = operator.start("source", "backup", str(path), start_new_session=True, variables=variables)
        try:
            self.dump = self.wait_for_dump(operator)
        except BaseException:
            self.finish()  # otherwise the lock would block the next test
            raise

    def wait_for_dump(self, operator: Operator) -> psutil.Process:
        """Wait until pg_dump waits for the lock."""
        wait_until(lambda: self.process.poll() is not None or is_waiting(operator, "source"), "the wait of pg_dump")
        (dump,) = psutil.Process(self.process.pid).children()
        return dump

    def finish(self) -> None:
        self.lock.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


@pytest.fixture
def blocked_backup(operator: Operator, tmp_path: Path) -> Iterator[BlockedBackup]:
    url = operator.build_url("source", user="postgres:hidden%20word") + "?application_name=nightly"
    inherited = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup lets the tests and their children ignore it
    backup = BlockedBackup(operator, tmp_path / "demo.dump", DATABASE_URL=url)
    signal.signal(signal.SIGHUP, inherited)
    yield backup
    backup.finish()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_interrupted_backup_leaves_no_file_and_no_process(
    blocked_backup: BlockedBackup, tmp_path: Path, number: signal.Signals
) -> None:
    assert [path.suffix for path in tmp_path.iterdir()] == [".partial"]

    blocked_backup.process.send_signal(number)

    assert blocked_backup.process.wait(PATIENCE) == 128 + number
    assert list(tmp_path.iterdir()) == []
    assert not blocked_backup.dump.is_running()


def test_pg_dump_gets_the_parameters_of_the_url_and_none_as_argument(blocked_backup: BlockedBackup) -> None:
    arguments, environment = " ".join(blocked_backup.dump.cmdline()), blocked_backup.dump.environ()

    assert "hidden" not in arguments
    assert (environment["PGPASSWORD"], environment["PGAPPNAME"]) == ("hidden word", "nightly")


def test_file_that_cannot_grow_is_an_error_and_keeps_the_older_backup(operator: Operator, tmp_path: Path) -> None:
    older = tmp_path / "demo.dump"
    older.write_text("an older backup")

    process = operator.start("source", "backup", "--force", str(older), file_size=20_000)
    _, messages = process.communicate(timeout=PATIENCE)

    assert process.returncode == 1
    assert "CommandError: pg_dump failed." in messages
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"demo.dump": "an older backup"}


def test_archive_that_cannot_be_restored_is_no_backup(
    use: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs, path = tmp_path / "bin", tmp_path / "demo.dump"
    programs.mkdir()
    (programs / "pg_restore").symlink_to(PROGRAMS / "pg_restore")
    (programs / "pg_dump").write_text(TRUNCATING_DUMP)
    (programs / "pg_dump").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    use("source")

    refuse(path, r"pg_restore failed\.")
    assert list(tmp_path.iterdir()) == [programs]
