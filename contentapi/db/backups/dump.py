"""Write a backup: an archive of `pg_dump`, and beside it a manifest with its SHA-256 and the rows of its tables.

The rows are counted in the snapshot that `pg_dump` reads, so the numbers are exact while others write.
"""

import hashlib
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import psycopg
from django.core.management.base import CommandError

from contentapi.db.backups.database import (
    NOT_DUMPED,
    Connection,
    Target,
    connect,
    count_rows,
    get_major,
    read_target,
)
from contentapi.db.backups.programs import SETS_TRANSACTION_TIMEOUT, Program, find_program, run_program
from contentapi.db.distribution import stop_writes

Report = Callable[[str], None]
WriteFiles = Callable[[Path], dict[str, Any]]  # writes a tar file, and returns what the manifest states of it


class Contents(NamedTuple):
    """The rows of each table, and what the manifest states of the files beside the database."""

    tables: dict[str, int]
    media: dict[str, Any]


def write_backup(path: Path, *, replace: bool, report: Report, write_files: WriteFiles = lambda _: {}) -> Contents:
    """Write the archive `path`, the files beside the database, and the manifest. All are complete, or none exists.

    With `replace`, an existing file stays until the new one is complete. Raises `CommandError`.
    """
    require_writable_place(path, replace=replace)
    try:
        with TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.", suffix=".partial") as folder:
            archive, media, manifest = (Path(folder, name) for name in ("archive", "media", "manifest"))
            stated = write_archive(path, archive, report)
            contents = Contents(stated["tables"], write_files(media))
            size, digest = archive.stat().st_size, compute_digest(archive)
            stated |= {"archive": {"bytes": size, "sha256": digest}, "media": contents.media}
            manifest.write_text(json.dumps(stated, indent=2) + "\n")
            require_writable_place(path, replace=replace)  # another backup may have finished meanwhile
            locate_manifest(path).unlink(missing_ok=True)  # first: it never describes another archive
            locate_media(path).unlink(missing_ok=True)
            if "sha256" in contents.media:
                publish(media, locate_media(path))
            publish(archive, path)
            publish(manifest, locate_manifest(path))
            synchronize(path.parent)
    except OSError as error:
        raise CommandError(f"Cannot write to {path.parent}: {error.strerror}.") from None
    return contents


def require_writable_place(path: Path, *, replace: bool) -> None:
    if path.is_dir():
        raise CommandError(f"{path} is a folder. Name a file.")
    if not path.parent.is_dir():
        raise CommandError(f"There is no folder {path.parent}.")
    if not replace and any(each.exists() for each in (path, locate_manifest(path), locate_media(path))):
        raise CommandError(f"{path} exists. Name another file, or replace it with --force.")


def locate_media(path: Path) -> Path:
    return path.with_name(f"{path.name}.media.tar")


def locate_manifest(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def write_archive(path: Path, archive: Path, report: Report) -> dict[str, Any]:
    """Write a complete archive, which `pg_restore` reads to its end, and return what the manifest states of it."""
    target = read_target()
    with connect(target) as connection:
        program = find_program("pg_dump", get_major(connection))
        report(f"Writing {path} with {program.path} ({program.version}).")
        if program.major >= SETS_TRANSACTION_TIMEOUT > get_major(connection):
            report(
                f"Note: this backup can be restored only on PostgreSQL {program.major} or newer, because of the "
                f"version of pg_dump. Install postgresql-client-{get_major(connection)}."
            )
        try:
            with stop_writes(connection, partial(connect, target), report):
                tables = dump_snapshot(connection, target, program, archive)
        except psycopg.Error as error:
            raise CommandError(f"The database cannot be read. {str(error).strip()}") from None
        server_version = connection.info.parameter_status("server_version")
    with run_program(
        [program.path.with_name("pg_restore"), f"--file={os.devnull}", archive], target.environment
    ) as end:
        end()
    return {
        "createdAt": datetime.now(UTC).isoformat(timespec="seconds"),
        "serverVersion": server_version,
        "pgDumpVersion": program.version,
        "tables": tables,
    }


def dump_snapshot(connection: Connection, target: Target, program: Program, archive: Path) -> dict[str, int]:
    """Dump a snapshot of the database, and return the number of rows of each table in the same snapshot."""
    with connection.transaction():
        if connection.execute("SELECT to_regclass('django_migrations')").fetchone() == (None,):
            raise CommandError(
                f"The database {connection.info.dbname} has no tables of this application. See DATABASE_URL."
            )
        (snapshot,) = connection.execute("SELECT pg_export_snapshot()").fetchone() or ("",)
        command: list[str | Path] = [
            program.path,
            f"--dbname={target.conninfo}",
            "--no-password",
            "--format=custom",
            f"--exclude-table-data={NOT_DUMPED}",
            f"--snapshot={snapshot}",
            f"--file={archive}",
        ]
        with run_program(command, target.environment) as end:
            tables = count_rows(connection)
            end()
    return tables


def compute_digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def publish(draft: Path, path: Path) -> None:
    """Give a complete file its name, readable for its owner only."""
    draft.chmod(0o600)
    synchronize(draft)
    draft.replace(path)


def synchronize(path: Path) -> None:
    """Write a file or the names in a folder to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
