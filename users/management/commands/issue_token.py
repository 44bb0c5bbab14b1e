"""Issue a bearer token for a user and print it."""

from argparse import ArgumentParser
from typing import Any

from contentapi.auth.jwt import MAX_LIFETIME
from contentapi.core.commands import OperatorCommand
from contentapi.core.identity import ROLE_SCOPES, Role, Scope
from users import selectors, tokens
from users.revocations import EVERY


class Command(OperatorCommand):
    help = (
        "Print a bearer token (JWT) for a user, to be sent as `Authorization: Bearer TOKEN`. A locked account gets no "
        f"token. Locking the account, deleting it or changing its role ends its tokens within about {EVERY:g} seconds; "
        "otherwise a token is valid until it expires."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", metavar="EMAIL", help="whose token it is")
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
            "--ttl",
            type=int,
            default=tokens.ACCESS_TOKEN_LIFE,
            metavar="SECONDS",
            help=f"how long it is good, at most {MAX_LIFETIME}; default: %(default)s",
        )

    def handle(self, *_: Any, email: str, scopes: list[str], ttl: int, **__: Any) -> None:
        wanted = [Scope(scope) for scope in scopes]
        user = selectors.get_user_by_email(email)
        token = tokens.issue_token(user=user, scopes=wanted, ttl=ttl)
        if beyond := set(wanted) - ROLE_SCOPES[Role(user.role)]:
            self.info(
                f"Note: the role {user.role} does not allow {', '.join(sorted(beyond))}; the token cannot use it."
            )
        self.stdout.write(token)
