"""Restore a backup into an empty database, in one transaction, and compare its rows with the manifest."""

import json
import re
import subprocess
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from django.core.management.base import CommandError

from contentapi.db.backups.database import (
    SELECT_OBJECTS,
    Connection,
    Target,
    connect,
    count_rows,
    get_major,
    read_target,
)
from contentapi.db.backups.dump import Report, compute_digest, locate_manifest
from contentapi.db.backups.programs import Program, find_program, run_program

TABLE_DATA = re.compile(r"^\d+; \d+ \d+ TABLE DATA \S+ (\S+) ", re.MULTILINE)
# Only the owner may set these comments, and the extension or schema may be there already.
SKIPPED = re.compile(r"^\d+; \d+ \d+ (COMMENT - EXTENSION|COMMENT - SCHEMA public|ACL) ")
EXTENSION = re.compile(r"^\d+; \d+ \d+ EXTENSION - (\S+) ", re.MULTILINE)
REQUIRED_TABLES = {"django_migrations", "contentapi_idempotencyrecord"}
NAMED_OBJECTS = 5  # of a database that is not empty, in the message


def restore_backup(path: Path, *, report: Report) -> dict[str, int]:
    """Restore the archive `path` into the empty database of the settings. Return the rows of each table.

    Raises `CommandError`. If the restore fails, the database is empty as before.
    """
    if not path.is_file():
        raise CommandError(f"There is no file {path}.")
    manifest = read_manifest(path)
    if not manifest:
        report(f"Note: there is no {locate_manifest(path)}, so the contents cannot be verified.")
    target = read_target()
    with connect(target) as connection:
        require_fitting_database(connection, manifest)
        program = find_program("pg_restore", get_major(connection))
        listing = list_archive(path, program)
        require_extensions(connection, listing)
        report(f"Restoring {path} into {connection.info.dbname} with {program.path} ({program.version}).")
        run_restore(path, program, listing, target)
        with connection.transaction():
            tables = count_rows(connection)
        if manifest:
            require_equal(manifest["tables"], tables)
            report(f"Verified: all {len(tables)} tables have as many rows as in the backup.")
        connection.execute("ANALYZE")  # an archive has no statistics
    return tables


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of an archive, or nothing if there is none.

    Raises `CommandError` if the archive does not have the size and the SHA-256 that its manifest states.
    """
    try:
        manifest: dict[str, Any] = json.loads(locate_manifest(path).read_text())
        size, digest = manifest["archive"]["bytes"], manifest["archive"]["sha256"]
        manifest |= {"major": int(manifest["serverVersion"].partition(".")[0])}
        manifest["tables"] = {name: int(rows) for name, rows in manifest["tables"].items()}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise CommandError(f"Cannot read {locate_manifest(path)}: {error.strerror}.") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise CommandError(f"{locate_manifest(path)} is not the manifest of a backup.") from None
    require_undamaged(path, size, digest)
    return manifest


def require_undamaged(path: Path, size: int, digest: str) -> None:
    if path.stat().st_size != size:
        raise CommandError(f"{path} is damaged: it has {path.stat().st_size} bytes instead of {size}.")
    if compute_digest(path) != digest:
        raise CommandError(f"{path} is damaged: its SHA-256 is not {digest}.")


def require_fitting_database(connection: Connection, manifest: dict[str, Any]) -> None:
    """Raise `CommandError` unless the database is empty, has the encoding UTF8, and is no older than the backup."""
    name, major = connection.info.dbname, get_major(connection)
    objects = [row[0] for row in connection.execute(SELECT_OBJECTS)]
    if objects:
        named = ", ".join(objects[:NAMED_OBJECTS]) + (", …" if len(objects) > NAMED_OBJECTS else "")
        raise CommandError(
            f"The database {name} is not empty (it has {named}). Nothing is changed. Create an empty database, set "
            "DATABASE_URL to it, and restore there. Of the embedded server, move the folder var/postgres away."
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise CommandError(f"The database {name} has the encoding {encoding}. Create it with the encoding UTF8.")
    if manifest.get("major", 0) > major:
        raise CommandError(
            f"The backup is from PostgreSQL {manifest['serverVersion']}, and this server is PostgreSQL {major}. "
            f"Restore it on PostgreSQL {manifest['major']} or newer."
        )


def list_archive(path: Path, program: Program) -> str:
    """Return the list of contents of an archive. Raises `CommandError` if it is no backup of this application."""
    done = subprocess.run([program.path, "--list", path], capture_output=True, check=False)
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip()
        raise CommandError(f"{path} cannot be read as a backup by {program.path} ({program.version}). {reason}")
    listing = done.stdout.decode(errors="replace")
    missing = REQUIRED_TABLES.difference(TABLE_DATA.findall(listing))
    if missing:
        raise CommandError(f"{path} is no backup of this application: it has no table {', '.join(sorted(missing))}.")
    return listing


def require_extensions(connection: Connection, listing: str) -> None:
    rows = connection.execute("SELECT name FROM pg_available_extensions")
    missing = sorted({*EXTENSION.findall(listing)} - {name for (name,) in rows})
    if "citus" in missing:
        raise CommandError(
            "The backup is of a distributed database, and this server does not have Citus. Restore it into an empty "
            "database of a coordinator, and run `distribute` there. See docs/operations/cluster.md."
        )
    if missing:
        raise CommandError(
            f"The backup uses the extensions {', '.join(missing)}, which this server does not have. Install them on "
            "its host; the package is postgresql-contrib, or part of the server's package."
        )


def run_restore(path: Path, program: Program, listing: str, target: Target) -> None:
    """Run `pg_restore` in one transaction: the objects belong to the connecting role, which need not be a superuser."""
    kept = [line for line in listing.splitlines() if not SKIPPED.match(line)]
    with NamedTemporaryFile("w", suffix=".list") as file:
        file.write("\n".join(kept) + "\n")
        file.flush()
        command: list[str | Path] = [
            program.path,
            f"--dbname={target.conninfo}",
            "--no-password",
            "--no-owner",
            "--no-privileges",
            "--single-transaction",
            "--exit-on-error",
            f"--use-list={file.name}",
            path,
        ]
        try:
            with run_program(command, target.environment) as end:
                end()
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
