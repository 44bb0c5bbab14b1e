from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from contentapi.core.identity import Role
from users import services
from users.management.descriptions import UserActCommand


class Command(UserActCommand):
    help = (
        "Set the role of a user. The user's tokens are refused within seconds. API keys stay valid, and permit what "
        "both their scopes and the new role allow."
    )
    service = staticmethod(services.edit_user)
    result = "has the role {role}."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "role", help=f"one of {', '.join(Role)}", metavar="ROLE", choices=[role.value for role in Role]
        )

    @staticmethod
    def read_values(options: Mapping[str, Any]) -> dict[str, Any]:
        return {"changes": {"role": Role(options["role"])}}
