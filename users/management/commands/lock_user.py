from collections.abc import Mapping
from typing import Any

from contentapi.core.identity import OPERATOR
from users import services
from users.management.descriptions import UserActCommand
from users.models import User


class Command(UserActCommand):
    help = (
        "Lock a user: login, API keys and tokens are refused, sessions end, and what the user has scheduled is not "
        "published. Nothing is deleted. Locking a locked user "
        "changes nothing."
    )
    result = "is locked."

    def change(self, user_id: str, _: Mapping[str, Any]) -> User:
        return services.lock_user(actor=OPERATOR, user_id=user_id)
