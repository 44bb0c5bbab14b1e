from typing import Any

from contentapi.auth.people import get_user_by_email
from contentapi.core.identity import OPERATOR
from users import services
from users.management.descriptions import UserActCommand, describe_user


class Command(UserActCommand):
    help = (
        "Delete a user with all credentials: API keys, tokens, sessions and consents. The user's posts, comments and "
        "orders stay. It cannot be undone; lock_user can."
    )

    def handle(self, *, email: str, as_json: bool, **_: Any) -> None:
        user = get_user_by_email(email)
        description = {**describe_user(user), "deleted": True}
        services.delete_user(actor=OPERATOR, user_id=str(user.pk))
        self.print_object(description, f"{user.email} is deleted. Posts, comments and orders stay.", as_json=as_json)
        self.note_missing_admin()
