from typing import Any

from contentapi.core.commands import ListCommand
from contentapi.core.identity import OPERATOR
from users import selectors
from users.management.descriptions import describe_api_key

COLUMNS = ("prefix", "state", "createdAt", "expiresAt", "lastUsedAt", "revokedAt", "owner", "scopes", "name")


class Command(ListCommand):
    help = (
        "List all API keys, oldest first: valid, expired and revoked ones. A key itself cannot be shown, because only "
        "its digest is stored. Times are in UTC."
    )

    def handle(self, *, as_json: bool, **_: Any) -> None:
        keys = selectors.select_api_keys(OPERATOR).select_related("user").order_by("pk")
        self.print_rows(map(describe_api_key, keys), COLUMNS, as_json=as_json)
