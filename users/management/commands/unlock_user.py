from collections.abc import Mapping
from typing import Any

from contentapi.core.identity import OPERATOR
from users import services
from users.management.descriptions import UserActCommand
from users.models import User


class Command(UserActCommand):
    help = (
        "Unlock a user: password and API keys work again, and so do tokens that have not expired. Sessions do not. "
        "Unlocking a user who is not locked changes nothing."
    )
    result = "is not locked."

    def change(self, user_id: str, _: Mapping[str, Any]) -> User:
        return services.unlock_user(actor=OPERATOR, user_id=user_id)
