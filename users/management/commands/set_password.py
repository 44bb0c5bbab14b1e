from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from contentapi.core.identity import OPERATOR
from users import services
from users.management.descriptions import UserActCommand
from users.management.passwords import add_password_argument, prompt_for_password, read_password
from users.models import User


class Command(UserActCommand):
    help = (
        "Set the password of a user, which ends the user's sessions. API keys and tokens stay valid. The command "
        "prompts for the password in a terminal; with --password-stdin it reads standard input."
    )
    result = "has a new password."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add_password_argument(parser)

    def change(self, user_id: str, options: Mapping[str, Any]) -> User:
        password = read_password() if options["password_stdin"] else prompt_for_password()
        return services.set_password(actor=OPERATOR, user_id=user_id, password=password)
