from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from contentapi.core.commands import OperatorCommand
from contentapi.db.backups.restoration import restore_backup
from contentapi.db.distribution import CLAIMS
from contentapi.management.commands.backup import format_rows
from contentapi.media.backups import ArchivedFiles


class Command(OperatorCommand):
    help = (
        "Restore a backup of the command `backup` into an empty database, in one transaction. Compares the SHA-256 of "
        "FILE and the number of rows of each table with FILE.json, and prints the numbers. A database that is not "
        "empty is refused and not changed. The files of images in FILE.media.tar are written to an empty folder. Start "
        "servers and workers afterwards."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", metavar="FILE", type=Path)

    def handle(self, *, path: Path, **_: Any) -> None:
        files = ArchivedFiles(path.absolute(), self.info)
        tables = restore_backup(path.absolute(), report=self.info)
        files.restore()
        self.stdout.write(format_rows(tables))
        for message in describe_next_steps():
            self.info(message)


def describe_next_steps() -> list[str]:
    """Return what the operator should do after a restore: run missing migrations, and check the deployment."""
    loader = MigrationLoader(connection)
    known, applied = set(loader.disk_migrations), set(loader.applied_migrations)
    steps = ["The restore is complete."]
    if pending := loader.graph.nodes.keys() - applied:  # without those that a squashed one replaces
        steps.append(f"The backup is of an older release: {len(pending)} migrations are not applied. Run `migrate`.")
    if unknown := sorted(f"{app}.{name}" for app, name in applied - known if app in loader.migrated_apps):
        steps.append(
            f"The backup is of a newer release, with {', '.join(unknown)}. Install that release before serving."
        )
    if CLAIMS in connection.introspection.table_names():
        steps.append("The database was distributed: run `distribute` before servers and workers.")
    steps.append("Run `doctor`. Credentials that were revoked after the backup are valid again: revoke them.")
    return steps
