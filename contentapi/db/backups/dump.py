"""Write a backup: an archive of `pg_dump`, and beside it a manifest with its SHA-256 and the rows of its tables.

The rows are counted in the snapshot that `pg_dump` reads, so the numbers are exact while others write.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from contentapi.db.backups.cluster import stop_writes
from contentapi.db.backups.contents import NOT_DUMPED, count_rows, lift_limits, read_sequences
from contentapi.db.backups.programs import (
    SETS_TRANSACTION_TIMEOUT,
    BackupError,
    Program,
    find_programs,
    run_program,
)
from contentapi.db.backups.target import Target, connect, get_major, read_migrations, read_target

FORMAT = 2  # of the manifest
Report = Callable[[str], None]
WriteFiles = Callable[[Path], dict[str, Any]]  # writes a tar file, and returns what the manifest states of it


class Contents(NamedTuple):
    """The contents of a database in one snapshot, and of the files beside it.

    `tables` has the number of rows of each table.
    """

    server_version: str
    migrations: list[str]
    tables: dict[str, int]
    sequences: dict[str, int]
    media: dict[str, Any] | None = None


def write_backup(path: Path, *, replace: bool, report: Report, write_files: WriteFiles = lambda _: {}) -> Contents:
    """Write the archive `path`, the files beside the database, and the manifest. All are complete, or none exists.

    With `replace`, an existing file stays until the new one is complete. Raises `BackupError`.
    """
    require_writable_place(path, replace=replace)
    target = read_target()
    with connect(target) as connection:
        server_major = get_major(connection.info.server_version)
        program = find_programs("pg_dump", server_major)[0]
        report(f"Writing {path} with {program.path} ({program.version}).")
        if program.major >= SETS_TRANSACTION_TIMEOUT > server_major:
            report(
                f"Note: this backup can be restored only on PostgreSQL {program.major} or newer, because of the "
                f"version of pg_dump. Install postgresql-client-{server_major}."
            )
        with draft_beside(path) as archive, draft_beside(path) as manifest:
            try:
                with stop_writes(target, connection) as is_distributed:
                    if is_distributed:
                        report("The database is distributed: writes wait until all rows are read, or get 503.")
                    contents = dump_snapshot(connection, target, program, archive)
            except psycopg.Error as error:
                raise BackupError(f"The database cannot be read. {str(error).strip()}") from None
            with draft_beside(path) as media:
                contents = contents._replace(media=write_files(media))
                write_manifest(manifest, contents, program, archive)
                has_files = "sha256" in (contents.media or {})
                publish(path, archive, manifest, media if has_files else None, replace=replace)
    return contents


def require_writable_place(path: Path, *, replace: bool) -> None:
    if path.is_dir():
        raise BackupError(f"{path} is a folder. Name a file.")
    if not path.parent.is_dir():
        raise BackupError(f"There is no folder {path.parent}.")
    if not replace and any(each.exists() for each in (path, locate_manifest(path), locate_media(path))):
        raise BackupError(f"{path} exists. Name another file, or replace it with --force.")


def locate_media(path: Path) -> Path:
    return path.with_name(f"{path.name}.media.tar")


def locate_manifest(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


@contextmanager
def draft_beside(path: Path) -> Iterator[Path]:
    """Create a file of mode 0600 beside `path`. It is removed at the end of the block unless it was renamed."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".partial")
    except OSError as error:
        raise BackupError(f"Cannot write to {path.parent}: {error.strerror}.") from None
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def dump_snapshot(connection: psycopg.Connection[Any], target: Target, program: Program, archive: Path) -> Contents:
    """Dump a snapshot of the database, and count the rows of its tables in the same snapshot."""
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    connection.read_only = True
    with connection.transaction():
        migrations = read_migrations_for_backup(connection)
        lift_limits(connection)
        (snapshot,) = connection.execute("SELECT pg_export_snapshot()").fetchone() or ("",)
        sequences = read_sequences(connection)
        command: list[str | Path] = [
            program.path,
            f"--dbname={target.conninfo}",
            "--no-password",
            "--format=custom",
            f"--exclude-table-data={NOT_DUMPED}",
            f"--snapshot={snapshot}",
            f"--file={archive}",
        ]
        with run_program(command, target.environment) as running:
            tables = count_rows(connection, running.require_no_failure)
            running.wait()
    version = connection.info.parameter_status("server_version") or ""
    return Contents(version, migrations, tables, sequences)


def read_migrations_for_backup(connection: psycopg.Connection[Any]) -> list[str]:
    with connection.transaction():
        (found,) = connection.execute("SELECT to_regclass('django_migrations')").fetchone() or (None,)
        migrations = read_migrations(connection) if found else []
    if not migrations:
        raise BackupError(f"The database {connection.info.dbname} has no tables of this application. See DATABASE_URL.")
    return migrations


def write_manifest(draft: Path, contents: Contents, program: Program, archive: Path) -> None:
    manifest = {
        "format": FORMAT,
        "createdAt": datetime.now(UTC).isoformat(timespec="seconds"),
        "serverVersion": contents.server_version,
        "pgDumpVersion": program.version,
        "archive": {"bytes": archive.stat().st_size, "sha256": compute_digest(archive)},
        "migrations": contents.migrations,
        "tables": contents.tables,
        "sequences": contents.sequences,
        **({"media": contents.media} if contents.media else {}),
    }
    try:
        with draft.open("w") as file:
            json.dump(manifest, file, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise BackupError(f"Cannot write {draft.parent}: {error.strerror}.") from None


def compute_digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def publish(path: Path, archive: Path, manifest: Path, media: Path | None, *, replace: bool) -> None:
    """Give the complete files their names. An old manifest goes first: it never describes another archive."""
    require_writable_place(path, replace=replace)  # another backup may have finished meanwhile
    locate_manifest(path).unlink(missing_ok=True)
    if media is None:
        locate_media(path).unlink(missing_ok=True)
    else:
        media.replace(locate_media(path))
    archive.replace(path)
    manifest.replace(locate_manifest(path))
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
