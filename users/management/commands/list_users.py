from typing import Any

from contentapi.core.commands import ListCommand
from contentapi.core.identity import OPERATOR
from users import selectors
from users.management.descriptions import describe_user

COLUMNS = ("id", "role", "locked", "createdAt", "lastLogin", "email", "name")


class Command(ListCommand):
    help = "List all users, oldest first, with role, lock and last login. Times are in UTC."

    def handle(self, *, as_json: bool, **_: Any) -> None:
        self.print_rows(map(describe_user, selectors.select_users(OPERATOR).queryset()), COLUMNS, as_json=as_json)
