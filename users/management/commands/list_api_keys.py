from typing import Any

from contentapi.core.commands import ListCommand
from users.management.descriptions import describe_api_keys

COLUMNS = {
    "prefix": "PREFIX",
    "state": "STATE",
    "createdAt": "CREATED",
    "expiresAt": "EXPIRES",
    "lastUsedAt": "LAST USED",
    "revokedAt": "REVOKED",
    "owner": "OWNER",
    "scopes": "SCOPES",
    "name": "NAME",
}


class Command(ListCommand):
    help = (
        "List all API keys, oldest first: valid, expired and revoked ones. A key itself cannot be shown, because only "
        "its digest is stored. Times are in UTC."
    )

    def handle(self, *, as_json: bool, **_: Any) -> None:
        self.print_rows(describe_api_keys(), COLUMNS, as_json=as_json)
