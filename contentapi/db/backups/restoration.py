"""Restore a backup into an empty database, in one transaction, and compare its rows with the manifest."""

import re
from pathlib import Path

import msgspec
from django.core.management.base import CommandError
from psycopg.conninfo import make_conninfo

from contentapi.db.backups import database
from contentapi.db.backups.database import Program, Target
from contentapi.db.backups.dump import Manifest, Report, compute_digest, locate_manifest
from contentapi.db.distribution import Connection

TABLE_DATA = re.compile(r"^\d+; \d+ \d+ TABLE DATA \S+ (\S+) ", re.MULTILINE)
# Only the owner may set these comments, and the extension or schema may be there already.
SKIPPED = re.compile(r"^\d+; \d+ \d+ (COMMENT - EXTENSION|COMMENT - SCHEMA public|ACL) ")
OPTIONS = ("--no-password", "--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error")
REQUIRED_TABLES = {"django_migrations", "contentapi_idempotencyrecord"}
NAMED_OBJECTS = 5  # of a database that is not empty, in the message


def restore_backup(path: Path, *, report: Report) -> dict[str, int]:
    """Restore the archive `path` into the empty database of the settings. Return the rows of each table.

    Raises `CommandError`. If the restore fails, the database is empty as before.
    """
    if not path.is_file():
        raise CommandError(f"There is no file {path}.")
    manifest = read_manifest(path)
    if manifest is None:
        report(f"Note: there is no {locate_manifest(path)}, so the contents cannot be verified.")
    target = database.read_target()
    with database.connect(target) as connection:
        require_empty_database(connection)
        program = database.find_program("pg_restore", connection.info.server_version // 10_000)
        listing = list_archive(path, program, target)
        report(f"Restoring {path} into {connection.info.dbname} with {program.path} ({program.version}).")
        run_restore(path, program, listing, connection.info.dbname, target)
        tables = database.count_rows(connection)
        if manifest is not None:
            require_equal(manifest.tables, tables)
            report(f"Verified: all {len(tables)} tables have as many rows as in the backup.")
        connection.execute("ANALYZE")  # an archive has no statistics
    return tables


def read_manifest(path: Path) -> Manifest | None:
    """Return the manifest of an archive, or None if there is none. Raises `CommandError` if they do not fit."""
    try:
        manifest = msgspec.json.decode(locate_manifest(path).read_bytes(), type=Manifest)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CommandError(f"Cannot read {locate_manifest(path)}: {error.strerror}.") from None
    except msgspec.MsgspecError:
        raise CommandError(f"{locate_manifest(path)} is not the manifest of a backup.") from None
    if compute_digest(path) != manifest.archive.sha256:
        raise CommandError(f"{path} is damaged: its SHA-256 is not {manifest.archive.sha256}.")
    return manifest


def require_empty_database(connection: Connection) -> None:
    """Raise `CommandError` unless the database is empty and has the encoding UTF8."""
    name = connection.info.dbname
    objects = [row[0] for row in connection.execute(database.SELECT_OBJECTS)]
    if objects:
        named = ", ".join(objects[:NAMED_OBJECTS]) + (", …" if len(objects) > NAMED_OBJECTS else "")
        raise CommandError(
            f"The database {name} is not empty (it has {named}). Nothing is changed. Create an empty database, set "
            "DATABASE_URL to it, and restore there. Of the embedded server, move the folder var/postgres away."
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise CommandError(f"The database {name} has the encoding {encoding}. Create it with the encoding UTF8.")


def list_archive(path: Path, program: Program, target: Target) -> str:
    """Return the list of contents of an archive. Raises `CommandError` if it is no backup of this application."""
    try:
        listing = database.run_program([program.path, "--list", path], target.environment)
    except CommandError as error:
        message = f"{path} cannot be read as a backup by {program.path} ({program.version}). {error}"
        raise CommandError(message) from None
    missing = REQUIRED_TABLES.difference(TABLE_DATA.findall(listing))
    if missing:
        raise CommandError(f"{path} is no backup of this application: it has no table {', '.join(sorted(missing))}.")
    return listing


def run_restore(path: Path, program: Program, listing: str, name: str, target: Target) -> None:
    """Run `pg_restore` in one transaction: the objects belong to the connecting role, which need not be a superuser."""
    kept = [line for line in listing.splitlines() if not SKIPPED.match(line)]
    command = (program.path, f"--dbname={make_conninfo(dbname=name)}", *OPTIONS, "--use-list=/dev/stdin", path)
    try:
        database.run_program(command, target.environment, given="\n".join(kept) + "\n")
    except CommandError as error:
        raise CommandError(f"{error}\nThe restore is rolled back. The database is empty, as before.") from None


def require_equal(expected: dict[str, int], restored: dict[str, int]) -> None:
    """Raise `CommandError` with the names of the tables that differ."""
    different = sorted({name for name, _ in expected.items() ^ restored.items()})
    if different:
        raise CommandError(
            f"The restored database differs from the backup in: {', '.join(different)}. Does a server or a worker "
            "already use it? Do not use this database. Create an empty one, and restore again."
        )
