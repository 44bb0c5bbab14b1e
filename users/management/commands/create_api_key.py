"""Create an API key for a user and print it, once."""

from argparse import ArgumentParser
from typing import Any

from contentapi.core.commands import OperatorCommand
from contentapi.core.identity import OPERATOR, ROLE_SCOPES, Role, Scope
from users import selectors, services


class Command(OperatorCommand):
    help = (
        "Create an API key for a user and print it: now or never, for only its digest is kept. The part before the "
        "last underscore is its prefix, by which `revoke_api_key` knows it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", metavar="EMAIL", help="whose key it is")
        parser.add_argument("--name", required=True, help="what the key is for")
        parser.add_argument(
            "--scope",
            action="append",
            default=[],
            dest="scopes",
            choices=[scope.value for scope in Scope],
            metavar="SCOPE",
            help=f"may be given again; none: all that the user's role allows. Of: {', '.join(Scope)}",
        )
        parser.add_argument(
            "--expires-in-days",
            type=int,
            default=services.API_KEY_DAYS,
            metavar="N",
            help="default: %(default)s",
        )

    def handle(self, *_: Any, email: str, name: str, scopes: list[str], expires_in_days: int, **__: Any) -> None:
        wanted = [Scope(scope) for scope in scopes]
        key = services.create_api_key(
            actor=OPERATOR, email=email, name=name, scopes=wanted, expires_in_days=expires_in_days
        )
        role = Role(selectors.get_user_by_email(email).role)
        if beyond := set(wanted) - ROLE_SCOPES[role]:
            self.info(f"Note: the role {role} does not allow {', '.join(sorted(beyond))}; the key cannot use it.")
        self.stdout.write(key)
