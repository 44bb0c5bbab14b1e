"""Restore a backup into an empty database, in one transaction, and compare its rows with the manifest."""

import json
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from contentapi.db.backups.contents import count_rows, lift_limits, read_sequences
from contentapi.db.backups.dump import (
    FORMAT,
    Contents,
    Report,
    compute_digest,
    locate_manifest,
)
from contentapi.db.backups.programs import BackupError, Program, find_programs, run_program
from contentapi.db.backups.target import Target, connect, get_major, list_objects, read_migrations, read_target

SOURCE_VERSION = re.compile(r"^;\s+Dumped from database version: ((\d+)\S*)", re.MULTILINE)
TABLE_DATA = re.compile(r"^\d+; \d+ \d+ TABLE DATA (\S+) (\S+) ", re.MULTILINE)
# Only the owner may set these comments, and the extension or schema may be there already.
SKIPPED = re.compile(r"^\d+; \d+ \d+ (COMMENT - EXTENSION|COMMENT - SCHEMA public|ACL) ")
EXTENSION = re.compile(r"^\d+; \d+ \d+ EXTENSION - (\S+) ", re.MULTILINE)
REQUIRED_TABLES = {"django_migrations", "contentapi_idempotencyrecord"}
NAMED_OBJECTS = 5  # of a database that is not empty, in the message


class Archive(NamedTuple):
    """A verified archive: the program that reads it, its list of contents, and its manifest if there is one."""

    path: Path
    program: Program
    listing: str
    manifest: Contents | None


def restore_backup(path: Path, *, report: Report) -> Contents:
    """Restore the archive `path` into the empty database of the settings, and verify it. Raises `BackupError`.

    If the restore fails, the database is empty as before.
    """
    manifest = read_manifest(path)
    if manifest is None:
        report(f"Note: there is no {locate_manifest(path)}, so the contents cannot be verified.")
    target = read_target()
    with connect(target) as connection:
        require_fitting_database(connection)
        archive = verify_archive(path, manifest, connection)
        report(
            f"Restoring {path} into {connection.info.dbname} with {archive.program.path} ({archive.program.version})."
        )
        run_restore(archive, target)
        contents = read_contents(connection)
        if manifest is not None:
            require_equal(manifest, contents)
            report(f"Verified: all {len(contents.tables)} tables have as many rows as in the backup.")
        connection.execute("ANALYZE")  # an archive has no statistics
    return contents


def read_manifest(path: Path) -> Contents | None:
    """Return the manifest of an archive, or None if there is none.

    Raises `BackupError` if the archive does not have the size and the SHA-256 that its manifest states.
    """
    if not path.is_file():
        raise BackupError(f"There is no file {path}.")
    try:
        text = locate_manifest(path).read_text()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BackupError(f"Cannot read {locate_manifest(path)}: {error.strerror}.") from None
    try:
        values = json.loads(text)
        tables = {str(name): int(rows) for name, rows in values["tables"].items()}
        manifest = Contents(values["serverVersion"], values["migrations"], tables, values["sequences"])
        size, digest, version = values["archive"]["bytes"], values["archive"]["sha256"], values["format"]
    except (ValueError, TypeError, KeyError, AttributeError):
        raise BackupError(f"{locate_manifest(path)} is not the manifest of a backup.") from None
    if version != FORMAT:
        raise BackupError(f"{locate_manifest(path)} has the format {version}. This release reads the format {FORMAT}.")
    if path.stat().st_size != size:
        raise BackupError(f"{path} is damaged: it has {path.stat().st_size} bytes instead of {size}.")
    if compute_digest(path) != digest:
        raise BackupError(f"{path} is damaged: its SHA-256 is not {digest}.")
    return manifest


def require_fitting_database(connection: psycopg.Connection[Any]) -> None:
    """Raise `BackupError` unless the database is empty and has the encoding UTF8."""
    name = connection.info.dbname
    objects = list_objects(connection)
    if objects:
        named = ", ".join(objects[:NAMED_OBJECTS]) + (", …" if len(objects) > NAMED_OBJECTS else "")
        raise BackupError(
            f"The database {name} is not empty (it has {named}). Nothing is changed. Create an empty database, set "
            "DATABASE_URL to it, and restore there. Of the embedded server, move the folder var/postgres away."
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise BackupError(f"The database {name} has the encoding {encoding}. Create it with the encoding UTF8.")


def verify_archive(path: Path, manifest: Contents | None, connection: psycopg.Connection[Any]) -> Archive:
    """Return the archive with a program that reads it. Raises `BackupError` if it cannot be restored here."""
    server_major = get_major(connection.info.server_version)
    if manifest is not None:
        require_server_version(manifest.server_version, server_major)
    program, listing = list_archive(path, find_programs("pg_restore", server_major))
    source = SOURCE_VERSION.search(listing)
    if source is None:
        raise BackupError(f"{path} does not name the version of its server.")
    require_server_version(source[1], server_major)
    require_extensions(connection, EXTENSION.findall(listing))
    missing = REQUIRED_TABLES - {name for _, name in TABLE_DATA.findall(listing)}
    if missing:
        raise BackupError(f"{path} is no backup of this application: it has no table {', '.join(sorted(missing))}.")
    return Archive(path, program, listing, manifest)


def require_extensions(connection: psycopg.Connection[Any], names: Sequence[str]) -> None:
    rows = connection.execute("SELECT name FROM pg_available_extensions")
    missing = sorted(set(names) - {name for (name,) in rows})
    if "citus" in missing:
        raise BackupError(
            "The backup is of a distributed database, and this server does not have Citus. Restore it into an empty "
            "database of a coordinator, and run `distribute` there. See docs/operations/cluster.md."
        )
    if missing:
        raise BackupError(
            f"The backup uses the extensions {', '.join(missing)}, which this server does not have. Install them on "
            "its host; the package is postgresql-contrib, or part of the server's package."
        )


def require_server_version(source_version: str, server_major: int) -> None:
    source_major = int(source_version.partition(".")[0])
    if source_major > server_major:
        raise BackupError(
            f"The backup is from PostgreSQL {source_version}, and this server is PostgreSQL {server_major}. "
            f"Restore it on PostgreSQL {source_major} or newer."
        )


def list_archive(path: Path, programs: Sequence[Program]) -> tuple[Program, str]:
    """Return the first program that reads the archive, and its list of contents. Raises `BackupError`."""
    failure = ""
    for program in programs:
        done = subprocess.run([program.path, "--list", path], capture_output=True, check=False)
        if done.returncode == 0:
            return program, done.stdout.decode(errors="replace")
        failure = done.stderr.decode(errors="replace").strip()
    if "unsupported version" in failure:
        found = ", ".join(str(each.path) for each in programs)
        failure += f" It is of a newer pg_dump; found is only: {found}."
    raise BackupError(f"{path} cannot be read as a backup. {failure}")


def run_restore(archive: Archive, target: Target) -> None:
    """Run `pg_restore` in one transaction: the objects belong to the connecting role, which need not be a superuser."""
    kept = [line for line in archive.listing.splitlines() if not SKIPPED.match(line)]
    with tempfile.NamedTemporaryFile("w", suffix=".list") as listing:
        listing.write("\n".join(kept) + "\n")
        listing.flush()
        command: list[str | Path] = [
            archive.program.path,
            f"--dbname={target.conninfo}",
            "--no-password",
            "--no-owner",
            "--no-privileges",
            "--single-transaction",
            "--exit-on-error",
            f"--use-list={listing.name}",
            archive.path,
        ]
        try:
            with run_program(command, target.environment) as running:
                running.wait()
        except BackupError as error:
            raise BackupError(f"{error}\nThe restore is rolled back. The database is empty, as before.") from None


def read_contents(connection: psycopg.Connection[Any]) -> Contents:
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    migrations = read_migrations(connection)
    with connection.transaction():
        lift_limits(connection)
        tables = count_rows(connection)
        sequences = read_sequences(connection)
    version = connection.info.parameter_status("server_version") or ""
    return Contents(version, migrations, tables, sequences)


def require_equal(expected: Contents, restored: Contents) -> None:
    """Raise `BackupError` with the names of the tables and sequences that differ."""
    names = expected.tables.keys() | restored.tables.keys()
    different = {name for name in names if expected.tables.get(name) != restored.tables.get(name)}
    # A sequence can advance between the snapshot and the moment at which pg_dump reads it.
    late = {name for name, value in expected.sequences.items() if restored.sequences.get(name, 0) < value}
    if different or late:
        raise BackupError(
            f"The restored database differs from the backup in: {', '.join(sorted(different | late))}. Does a server "
            "or a worker already use it? Do not use this database. Create an empty one, and restore again."
        )
