from typing import Any

from django.core.management.base import CommandParser

from contentapi.core.commands import JsonCommand
from contentapi.core.identity import OPERATOR
from users.management.descriptions import describe_client
from users.oauth.clients import revoke_client


class Command(JsonCommand):
    help = (
        "Delete an OAuth client with its consents and tokens. Its tokens are refused within seconds. "
        "list_oauth_clients shows the ids."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("client_id", metavar="ID", help="the client id")

    def handle(self, *, client_id: str, as_json: bool, **_: Any) -> None:
        client = revoke_client(actor=OPERATOR, client_id=client_id)
        description = {**describe_client(client), "revoked": True}
        self.print_object(description, f"{client_id} is revoked, with all of its tokens.", as_json=as_json)
