from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from users import services
from users.management.descriptions import UserActCommand
from users.management.passwords import add_password_argument, prompt_for_password, read_password


class Command(UserActCommand):
    help = (
        "Set the password of a user, which ends the user's sessions. API keys and tokens stay valid. The command "
        "prompts for the password in a terminal; with --password-stdin it reads standard input."
    )
    service = staticmethod(services.set_password)
    result = "has a new password."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add_password_argument(parser)

    @staticmethod
    def read_values(options: Mapping[str, Any]) -> dict[str, Any]:
        return {"password": read_password() if options["password_stdin"] else prompt_for_password()}
