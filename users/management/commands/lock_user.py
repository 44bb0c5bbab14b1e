from typing import Any

from django.core.management.base import CommandParser

from contentapi.core.identity import OPERATOR
from users import services
from users.management.descriptions import UserActCommand


class Command(UserActCommand):
    help = (
        "Lock a user: login, API keys and tokens are refused, sessions end, and what the user has scheduled is not "
        "published. Nothing is deleted. Locking a locked user "
        "changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("email", metavar="EMAIL")

    def handle(self, *, email: str, as_json: bool, **_: Any) -> None:
        user = services.lock_user(actor=OPERATOR, user_id=self.find_user_id(email))
        self.print_user(user, f"{user.email} is locked.", as_json=as_json)
