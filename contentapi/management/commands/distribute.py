"""Distribute the database over the nodes of a Citus cluster."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection, transaction

from contentapi.db.citus.steps import SETTINGS, NotReady, list_steps

SHARDS = 32


class Command(BaseCommand):
    help = (
        "Distribute the tables over the nodes of a Citus cluster, of which DATABASE_URL is the coordinator. Print each "
        "step. Stop the servers and the worker before. An interrupted run is continued by the next one."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--shards", type=int, default=SHARDS, help=f"parts of each table (default: {SHARDS})")
        parser.add_argument("--plan", action="store_true", help="print the steps, and do nothing")

    def handle(self, *, shards: int, plan: bool, **_: Any) -> None:
        try:
            with connection.cursor() as cursor:
                steps = list(list_steps(cursor, shards))
        except NotReady as error:
            raise CommandError(str(error)) from None
        with connection.cursor() as cursor:
            for name in SETTINGS:  # of the database for later sessions
                cursor.execute(f"SET {name} = on")
        for step in steps:
            self.stdout.write(step.description)
            if plan:
                continue
            with transaction.atomic(), connection.cursor() as cursor:
                for statement in step.statements:
                    cursor.execute(statement)
        if not steps:
            self.stdout.write("Everything is distributed.")
