from typing import Any

from django.core.management.base import CommandParser

from contentapi.auth.people import get_user_by_email
from contentapi.core.commands import CredentialCommand
from contentapi.core.identity import OPERATOR, Role, Scope
from users import services


class Command(CredentialCommand):
    help = (
        "Create an API key for a user and print it. It cannot be printed again: only its digest is stored. The part "
        "before the last underscore is its prefix, which `revoke_api_key` takes."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--name", required=True, help="the purpose of the key")
        parser.add_argument(
            "--expires-in-days", type=int, default=services.API_KEY_DAYS, metavar="N", help="default: %(default)s"
        )

    def handle(self, *, email: str, name: str, scopes: list[str], expires_in_days: int, **_: Any) -> None:
        wanted = [Scope(scope) for scope in scopes]
        key = services.create_api_key(
            actor=OPERATOR, email=email, name=name, scopes=wanted, expires_in_days=expires_in_days
        )
        self.print_credential("key", key, Role(get_user_by_email(email).role), wanted)
