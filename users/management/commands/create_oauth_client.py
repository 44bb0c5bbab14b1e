from argparse import ArgumentParser
from typing import Any

from contentapi.core.commands import OperatorCommand
from users.oauth.clients import list_redirect_uri_warnings, register_client


class Command(OperatorCommand):
    help = (
        "Register an application that may ask users for access (OAuth 2.0, authorization code with PKCE S256). Prints "
        "the client id and, on a second line, the secret. It cannot be printed again: only its hash is stored."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the name that users see on the consent page")
        parser.add_argument(
            "--redirect-uri",
            action="append",
            required=True,
            dest="redirect_uris",
            metavar="URI",
            help="an https URI to which users return, compared character for character; can be repeated. A public "
            "client may also have http://127.0.0.1/… with any port, or a scheme with a dot: com.example.app:/callback",
        )
        public = "an application that cannot keep a secret (in a browser, on a phone): it gets none"
        parser.add_argument("--public", action="store_true", help=public)

    def handle(self, *, name: str, redirect_uris: list[str], public: bool, **_: Any) -> None:
        client = register_client(name=name, redirect_uris=redirect_uris, public=public)
        for warning in list_redirect_uri_warnings(redirect_uris):
            self.stderr.write(self.style.WARNING(warning))
        self.stdout.write(client.client_id)
        if client.secret:
            self.stdout.write(client.secret)
