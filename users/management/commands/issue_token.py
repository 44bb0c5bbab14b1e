from typing import Any

from django.core.management.base import CommandParser

from contentapi.auth.people import get_user_by_email
from contentapi.conf.timeouts import ACCESS_TOKEN_LIFETIME, REVOCATION_INTERVAL, TOKEN_MAX_LIFETIME
from contentapi.core.commands import CredentialCommand
from contentapi.core.identity import Role, Scope
from users import tokens


class Command(CredentialCommand):
    help = (
        "Print a bearer token (JWT) for a user, to be sent as `Authorization: Bearer TOKEN`. A locked account gets no "
        "token. Locking the account, deleting it or changing its role ends its tokens within about "
        f"{REVOCATION_INTERVAL:g} seconds; otherwise a token is valid until it expires."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--ttl",
            type=int,
            default=ACCESS_TOKEN_LIFETIME,
            metavar="SECONDS",
            help=f"the lifetime, at most {TOKEN_MAX_LIFETIME}; default: %(default)s",
        )

    def handle(self, *, email: str, scopes: list[str], ttl: int, **_: Any) -> None:
        wanted = [Scope(scope) for scope in scopes]
        user = get_user_by_email(email)
        self.print_credential("token", tokens.issue_token(user=user, scopes=wanted, ttl=ttl), Role(user.role), wanted)
