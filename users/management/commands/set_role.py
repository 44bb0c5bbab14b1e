from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from contentapi.core.identity import OPERATOR, Role
from users import services
from users.management.descriptions import UserActCommand
from users.models import User


class Command(UserActCommand):
    help = (
        "Set the role of a user. The user's tokens are refused within seconds. API keys stay valid, and permit what "
        "both their scopes and the new role allow."
    )
    result = "has the role {role}."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "role", help=f"one of {', '.join(Role)}", metavar="ROLE", choices=[role.value for role in Role]
        )

    def change(self, user_id: str, options: Mapping[str, Any]) -> User:
        return services.edit_user(actor=OPERATOR, user_id=user_id, changes={"role": Role(options["role"])})
