from typing import Any

from django.core.management.base import CommandParser

from contentapi.core.identity import OPERATOR
from users import services
from users.management.descriptions import UserActCommand


class Command(UserActCommand):
    help = (
        "Unlock a user: password and API keys work again, and so do tokens that have not expired. Sessions do not. "
        "Unlocking a user who is not locked changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("email", metavar="EMAIL")

    def handle(self, *, email: str, as_json: bool, **_: Any) -> None:
        user = services.unlock_user(actor=OPERATOR, user_id=self.find_user_id(email))
        self.print_user(user, f"{user.email} is not locked.", as_json=as_json)
