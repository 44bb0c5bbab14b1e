from typing import Any

from django.core.management.base import CommandParser

from contentapi.core.identity import OPERATOR
from users import services
from users.management.descriptions import UserActCommand
from users.management.passwords import add_password_argument, prompt_for_password, read_password


class Command(UserActCommand):
    help = (
        "Set the password of a user, which ends the user's sessions. API keys and tokens stay valid. The command "
        "prompts for the password in a terminal; with --password-stdin it reads standard input."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("email", metavar="EMAIL")
        add_password_argument(parser)

    def handle(self, *, email: str, password_stdin: bool, as_json: bool, **_: Any) -> None:
        user_id = self.find_user_id(email)
        password = read_password() if password_stdin else prompt_for_password()
        user = services.set_password(actor=OPERATOR, user_id=user_id, password=password)
        self.print_user(user, f"{user.email} has a new password.", as_json=as_json)
