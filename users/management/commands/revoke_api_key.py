from argparse import ArgumentParser
from typing import Any

from contentapi.core.commands import OperatorCommand
from contentapi.core.identity import OPERATOR
from users import services


class Command(OperatorCommand):
    help = "Revoke an API key: the next request with it is refused. Revoking it again changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("prefix", metavar="PREFIX", help="the key up to its last underscore")

    def handle(self, *, prefix: str, **_: Any) -> None:
        services.revoke_api_key(actor=OPERATOR, prefix=prefix)
        self.info(f"{prefix} is revoked.")
