"""Migrate without blocking requests: wait for a lock for one second at most, and try again."""

import time
from typing import Any

from django.core.checks import Tags
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.core.management.commands.migrate import Command as MigrateCommand
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections

from contentapi.conf.checks import START_TAG
from contentapi.conf.timeouts import MIGRATION_PAUSE
from contentapi.db.distribution import is_distributed
from contentapi.db.migration_locks import LOCK_TIMEOUT, is_lock_failure, limit_locks
from contentapi.types.own_values import adapt_indexes

ATTEMPTS = 10


class Command(MigrateCommand):
    help = (
        f"{MigrateCommand.help} A migration waits for a lock for {LOCK_TIMEOUT} at most, because requests wait behind "
        f"it. It is then rolled back and tried again, {ATTEMPTS} times in all."
    )

    requires_system_checks = [START_TAG, Tags.database, Tags.models]

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--attempts", type=int, default=ATTEMPTS, help=f"how often to try (default: {ATTEMPTS})")

    def handle(self, *arguments: Any, attempts: int = ATTEMPTS, **options: Any) -> None:
        connection = connections[options.get("database") or DEFAULT_DB_ALIAS]
        for left in reversed(range(max(1, attempts))):
            try:
                with limit_locks(connection):
                    super().handle(*arguments, **options)
                    if not (options["app_label"] or options["plan"] or options["check_unapplied"]):
                        adapt_indexes(connection)
            except OperationalError as error:
                if not is_lock_failure(error):
                    raise
                connection.close()
                self.stderr.write(f"\nA migration could not get a lock within {LOCK_TIMEOUT}, and was rolled back.")
                if not left:
                    raise CommandError(
                        "A long transaction or much load prevents it. Run migrate again: earlier migrations are kept."
                    ) from error
                time.sleep(MIGRATION_PAUSE)
            else:
                if is_distributed():
                    call_command("distribute", "--adapt", stdout=self.stdout)
                return
