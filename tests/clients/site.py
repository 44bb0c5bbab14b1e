"""The server and the worker that the clients use: their own database, the demo's content, a credential of each kind."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from secrets import token_urlsafe

from tests.deployment.live_server import Site
from tests.deployment.ports import find_free_port
from tests.deployment.processes import ROOT
from tests.deployment.s3_server import VARIABLES, S3Server
from tests.deployment.template import GIVEN, Template
from tests.e2e.streams import serve_streams

MEMBER = "mara@example.com"
REDIRECT_URI = "https://app.example.com/callback"
RATES = ("ANONYMOUS", "AUTHENTICATED", "WRITES", "TOKENS", "LOGIN_ADDRESS")
IMPORT_FRAGMENTS = "from tests.contract.test_typed_client import CONTENT"
LIMITS = {f"CONTENTAPI_RATE_{name}": "1000000/minute" for name in RATES}


class ClientSite:
    """A site with a server, streams and a bucket for images, and what its clients have in their environment."""

    def __init__(self, folder: Path) -> None:
        given = os.environ.get(GIVEN)
        template = Template(Path(given) if given else folder.with_name("template"))
        if not given:
            template.create()
        self.site = Site(folder, template)
        self.port, self.stream_port = find_free_port(), find_free_port()
        self.url = f"http://localhost:{self.port}"
        self.site.manage("migrate", "--verbosity", "0")  # a given template may not have the tables of an own type
        self.bucket = S3Server(folder)
        media = {"CONTENTAPI_MEDIA": self.bucket.place, "CONTENTAPI_MEDIA_URL": "https://cdn.example.com", **VARIABLES}
        own = {"PORT": str(self.port), "CONTENTAPI_PUBLIC_URL": self.url, "WEB_CONCURRENCY": "1"}
        self.settings = {**LIMITS, **own, **media, "CONTENTAPI_WEBHOOK_NETWORKS": "127.0.0.0/8"}
        addresses = {"API_URL": self.url, "GRAPHQL_URL": f"{self.url}/graphql"}
        addresses["STREAM_URL"] = f"http://localhost:{self.stream_port}/graphql"
        self.environment = addresses | self.create_credentials()

    @property
    def ports(self) -> dict[str, int]:
        """The ports by those of the documentation."""
        return {"8000": self.port, "8100": self.stream_port}

    def create_credentials(self) -> dict[str, str]:
        """Create a user with a password, applications and tokens. Returns them as environment variables."""
        password = token_urlsafe(18)
        manage = partial(self.site.manage, **self.settings)
        manage("create_user", MEMBER, "--name", "Mara Member", "--role", "author", "--password-stdin", given=password)
        application = ["create_oauth_client", "Harbour News", "--redirect-uri", REDIRECT_URI]
        client_id, secret = manage(*application).split()
        public_id = manage(*application, "--public")
        # `env`, because a client's own Python must not import from this folder.
        browser = ["env", f"PYTHONPATH={ROOT}", sys.executable, "-m", "tests.clients.browser", MEMBER, password]
        return {
            "API_KEY": (self.site.folder / "var/demo_api_key").read_text(),
            "CONTENT_FRAGMENTS": manage("shell", "--verbosity", "0", "-c", f"{IMPORT_FRAGMENTS}; print(CONTENT)"),
            "ACCESS_TOKEN": manage("issue_token", "editor@example.com", "--ttl", "3600"),
            "BROWSER": json.dumps(browser),
            "OAUTH_CLIENT_ID": client_id,
            "OAUTH_CLIENT_SECRET": secret,
            "OAUTH_PUBLIC_CLIENT_ID": public_id,
            "OAUTH_REDIRECT_URI": REDIRECT_URI,
        }

    @contextmanager
    def serve(self) -> Iterator[None]:
        try:
            streams = serve_streams(self.site, self.settings, self.stream_port)
            with self.site.serve("granian", **self.settings), streams:
                yield
        finally:
            self.bucket.stop()

    @contextmanager
    def serve_trusted(self, manifest: Path) -> Iterator[str]:
        """Start a second server, which executes only the documents of a manifest. Returns its GraphQL endpoint."""
        port = find_free_port()
        settings = {
            "CONTENTAPI_DOCUMENTS": "trusted",
            "CONTENTAPI_DOCUMENTS_MANIFEST": str(manifest),
            "PORT": str(port),
        }
        with self.site.serve("granian", **self.settings | settings):
            yield f"http://localhost:{port}/graphql"
