from argparse import ArgumentParser
from typing import Any

from contentapi.core.commands import OperatorCommand
from contentapi.core.identity import OPERATOR, Role
from users import services
from users.management.passwords import add_password_argument, read_password


class Command(OperatorCommand):
    help = (
        "Create a user and print the id. Without --password-stdin the user cannot log in with a password; API keys "
        "and tokens work."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", metavar="EMAIL")
        parser.add_argument("--name", required=True)
        roles = [role.value for role in Role]
        parser.add_argument("--role", choices=roles, default=Role.READER.value, help="default: %(default)s")
        add_password_argument(parser)

    def handle(self, *, email: str, name: str, role: str, password_stdin: bool, **_: Any) -> None:
        password = read_password() if password_stdin else None
        user = services.create_user(actor=OPERATOR, email=email, name=name, role=Role(role), password=password)
        self.stdout.write(str(user.pk))
