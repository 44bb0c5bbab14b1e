"""Distribute the database over the nodes of a Citus cluster."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from contentapi.db.citus.steps import NotReady, Step, has_table, list_steps
from contentapi.db.distribution import CLAIMS
from contentapi.db.statements import execute

SHARDS = 32


class Command(BaseCommand):
    help = (
        "Distribute the tables over the nodes of a Citus cluster, of which DATABASE_URL is the coordinator. Print each "
        "step. Stop the servers and the worker before. The next run continues one that was interrupted."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--shards", type=int, default=SHARDS, help=f"parts of each table (default: {SHARDS})")
        parser.add_argument("--plan", action="store_true", help="print the steps, and do nothing")
        parser.add_argument("--adapt", action="store_true", help="do nothing on a database that is not distributed yet")

    def handle(self, *, shards: int, plan: bool, adapt: bool, **_: Any) -> None:
        steps: list[Step] = []
        try:
            if has_table(CLAIMS) or not adapt:
                steps = list(list_steps(shards))
            execute("SET citus.enable_unsafe_triggers = on")
        except NotReady as error:
            raise CommandError(str(error)) from None
        for step in steps:
            self.stdout.write(step.description)
            if not plan:
                with transaction.atomic():
                    for statement in step.statements:
                        execute(statement)
        if not steps and not adapt:
            self.stdout.write("Everything is distributed.")
