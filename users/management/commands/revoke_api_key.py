"""Revoke an API key, at once."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from contentapi.core.errors import NotFound
from contentapi.core.identity import OPERATOR
from users import services


class Command(BaseCommand):
    help = "Revoke an API key: the next request that presents it is refused. Revoking it again changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("prefix", metavar="PREFIX", help="the key up to its last underscore")

    def handle(self, *_: Any, prefix: str, **__: Any) -> None:
        try:
            services.revoke_api_key(actor=OPERATOR, prefix=prefix)
        except NotFound as error:
            raise CommandError(error.message) from None
        self.stderr.write(f"{prefix} is revoked.", str)
