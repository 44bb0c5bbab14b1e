from typing import Any

from contentapi.core.commands import ListCommand
from contentapi.core.identity import OPERATOR
from users.management.descriptions import describe_client
from users.oauth.clients import select_clients

COLUMNS = ("clientId", "type", "createdAt", "owner", "redirectUris", "name")


class Command(ListCommand):
    help = "List all OAuth clients, oldest first, without their secrets. Times are in UTC."

    def handle(self, *, as_json: bool, **_: Any) -> None:
        clients = select_clients(OPERATOR).select_related("user").order_by("pk")
        self.print_rows(map(describe_client, clients), COLUMNS, as_json=as_json)
