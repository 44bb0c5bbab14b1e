"""Write a backup: an archive of `pg_dump`, and beside it a manifest with its SHA-256 and the rows of its tables.

The rows are counted in the snapshot that `pg_dump` reads, so the numbers are exact while others write.
"""

import fcntl
import hashlib
import os
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import psycopg
from django.core.management.base import CommandError

from contentapi.db.backups import database
from contentapi.db.backups.database import Program, Target
from contentapi.db.citus.backups import stop_writes
from contentapi.db.distribution import Connection

OPTIONS = ("--no-password", "--format=custom", f"--exclude-table-data={database.NOT_DUMPED}")
Report = Callable[[str], None]
WriteFiles = Callable[[Path], dict[str, Any]]  # writes a tar file, and returns what the manifest states of it


class Archive(msgspec.Struct):
    bytes: int
    sha256: str


class Manifest(msgspec.Struct, rename="camel"):
    """The contents of a backup: the number of rows of each table, and the files beside the database."""

    server_version: str
    tables: dict[str, int]
    archive: Archive
    created_at: str = ""
    pg_dump_version: str = ""
    media: dict[str, Any] = {}


def write_backup(path: Path, *, replace: bool, report: Report, write_files: WriteFiles = lambda _: {}) -> Manifest:
    """Write the archive `path`, the files beside the database, and the manifest. All are complete, or none exists.

    With `replace`, an existing file stays until the new one is complete. Raises `CommandError`.
    """
    require_writable_place(path, replace=replace)
    try:
        hidden = TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.", suffix=".partial")
        with hidden as folder, ExitStack() as stack:
            archive, media, draft = (Path(folder, name) for name in ("archive", "media", "manifest"))
            manifest = write_archive(path, archive, report)
            manifest.media = write_files(media)
            draft.write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
            names = os.open(path.parent, os.O_RDONLY)
            stack.callback(os.close, names)
            fcntl.flock(names, fcntl.LOCK_EX)
            require_writable_place(path, replace=replace)  # another backup may have ended meanwhile
            locate_manifest(path).unlink(missing_ok=True)  # first: it never describes another archive
            locate_media(path).unlink(missing_ok=True)
            if media.exists() and manifest.media:
                publish(media, locate_media(path))
            publish(archive, path)
            publish(draft, locate_manifest(path))
            os.fsync(names)
    except OSError as error:
        raise CommandError(f"Cannot write to {path.parent}: {error.strerror}.") from None
    return manifest


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


def write_archive(path: Path, archive: Path, report: Report) -> Manifest:
    """Write a complete archive, which `pg_restore` reads to its end, and return its manifest."""
    target = database.read_target()
    with database.connect(target) as connection:
        major = connection.info.server_version // 10_000
        version = connection.info.parameter_status("server_version")
        program = database.find_program("pg_dump", major)
        report(f"Writing {path} with {program.path} ({program.version}).")
        if program.major >= database.SETS_TRANSACTION_TIMEOUT > major:
            needed = f"PostgreSQL {database.SETS_TRANSACTION_TIMEOUT} or newer"
            report(f"Note: this backup can be restored only on {needed}. Install postgresql-client-{major}.")
        try:
            with stop_writes(partial(database.connect, target), report):
                tables = dump_snapshot(connection, target, program, archive)
        except psycopg.Error as error:
            raise CommandError(f"The database cannot be read. {str(error).strip()}") from None
    database.run_program([program.path.with_name("pg_restore"), f"--file={os.devnull}", archive], target.environment)
    described = Archive(archive.stat().st_size, compute_digest(archive))
    manifest = Manifest(str(version), tables, described, pg_dump_version=program.version)
    manifest.created_at = datetime.now(UTC).isoformat(timespec="seconds")
    return manifest


def dump_snapshot(connection: Connection, target: Target, program: Program, archive: Path) -> dict[str, int]:
    """Dump a snapshot of the database, and return the number of rows of each table in the same snapshot."""
    with connection.transaction():
        if connection.execute("SELECT to_regclass('django_migrations')").fetchone() == (None,):
            name = connection.info.dbname
            raise CommandError(f"The database {name} has no tables of this application. See DATABASE_URL.")
        (snapshot,) = connection.execute("SELECT pg_export_snapshot()").fetchone() or ("",)
        place = (f"--snapshot={snapshot}", f"--file={archive}")
        database.run_program((program.path, *OPTIONS, *place), target.environment)
        return database.count_rows(connection)


def compute_digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def publish(draft: Path, path: Path) -> None:
    """Give a complete file its name, readable for its owner only."""
    draft.chmod(0o600)
    with draft.open("rb") as file:
        os.fsync(file)
    draft.replace(path)
