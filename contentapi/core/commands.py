"""Base classes of the management commands: results on stdout, messages on stderr, errors in one line."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from contentapi.core.errors import ApiError
from contentapi.core.identity import ROLE_SCOPES, Role, Scope


class OperatorCommand(BaseCommand):
    """A command that calls a service. An `ApiError` ends it with its message and exit status 1."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except ApiError as error:
            raise CommandError(error.message) from None

    def info(self, message: str) -> None:
        self.stderr.write(message, str)


class CredentialCommand(OperatorCommand):
    """A command that creates a credential for a user and prints it."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", metavar="EMAIL", help="the user's email")
        parser.add_argument(
            "--scope",
            action="append",
            default=[],
            dest="scopes",
            choices=[scope.value for scope in Scope],
            metavar="SCOPE",
            help=f"can be repeated; default: all scopes of the user's role. One of: {', '.join(Scope)}",
        )

    def print_credential(self, kind: str, credential: str, role: Role, scopes: list[Scope]) -> None:
        """Print the credential, and a note if the role does not allow one of the scopes."""
        unusable = ", ".join(sorted(set(scopes) - ROLE_SCOPES[role]))
        if unusable:
            self.info(f"Note: the role {role} does not allow {unusable}; the {kind} cannot use it.")
        self.stdout.write(credential)
