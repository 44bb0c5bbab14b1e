from typing import Any

from django.core.management.base import CommandParser

from contentapi.core.identity import OPERATOR, Role
from users import services
from users.management.descriptions import UserActCommand


class Command(UserActCommand):
    help = (
        "Set the role of a user. The user's tokens are refused within seconds. API keys stay valid, and permit what "
        "both their scopes and the new role allow."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("email", metavar="EMAIL")
        parser.add_argument(
            "role", help=f"one of {', '.join(Role)}", metavar="ROLE", choices=[role.value for role in Role]
        )

    def handle(self, *, email: str, role: str, as_json: bool, **_: Any) -> None:
        changes = {"role": Role(role)}
        user = services.edit_user(actor=OPERATOR, user_id=self.find_user_id(email), changes=changes)
        self.print_user(user, f"{user.email} has the role {role}.", as_json=as_json)
