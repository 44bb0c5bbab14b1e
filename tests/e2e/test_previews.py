"""Previews on servers: nginx with a cache in front stores none, and a link ends on all servers at once."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.deployment.proxies import start_nginx
from tests.e2e.conftest import NEEDS_NGINX
from tests.e2e.http_client import HttpClient, HttpResponse
from tests.e2e.shared_servers import SharedServer

pytestmark = pytest.mark.servers

KEYS = "/.well-known/jwks.json"  # a response that caches store
CONFIGURATION = """
pid /run/nginx.pid;
error_log /var/log/nginx/error.log error;
events {}
http {
    access_log off;
    proxy_cache_path %(folder)s/cache keys_zone=shared:1m;
    upstream contentapi { server 127.0.0.1:8000; }
    server {
        listen 80 default_server;
        location / {
            proxy_pass http://contentapi;
            proxy_set_header Host $host;
            proxy_cache shared;
            proxy_cache_valid any 10m;
            add_header X-Cache $upstream_cache_status always;
        }
    }
}
"""


class Previews(NamedTuple):
    """A client that writes with a key, and reads with preview tokens."""

    client: HttpClient
    key: str

    def create_draft(self, title: str) -> str:
        """Return the id of a new draft."""
        return str(self.mutate("createPost", f'{{title: "{title}", body: "{title}"}}', "id")["id"])

    def create_link(self, post_id: str) -> tuple[str, str]:
        """Return the id of a new preview link, and its token."""
        created = self.mutate("createPreviewLink", f'{{postId: "{post_id}"}}', "token previewLink { id }")
        return created["previewLink"]["id"], created["token"]

    def revoke(self, link_id: str) -> None:
        self.mutate("revokePreviewLink", f'{{id: "{link_id}"}}', "revokedPreviewLinkId")

    def mutate(self, field: str, given: str, selection: str) -> Any:
        document = f"mutation {{ {field}(input: {given}) {{ {selection} }} }}"
        return self.client.query(document, X_API_Key=self.key).json["data"][field]

    def get(self, path: str, token: str = "") -> HttpResponse:
        return self.client.get(path, **({"Preview_Token": token} if token else {}))

    def read_outcome(self, token: str) -> str:
        """Return the title that a token shows, or the code of the error."""
        response = self.get("/preview", token)
        return str(response.json["post"]["title"] if response.status == 200 else response.headers["X-Error-Code"])


class Cached(NamedTuple):
    """A server behind nginx, and the folder with what nginx has stored."""

    previews: Previews
    folder: Path

    def list_stored(self) -> list[bytes]:
        return [path.read_bytes() for path in (self.folder / "cache").rglob("*") if path.is_file()]


@pytest.fixture
def cached(shared_server: SharedServer, tmp_path: Path) -> Iterator[Cached]:
    text = CONFIGURATION.replace("%(folder)s", str(tmp_path))
    with start_nginx(shared_server.port, tmp_path, text=text) as port:
        yield Cached(Previews(HttpClient(f"http://127.0.0.1:{port}"), shared_server.key), tmp_path)


@NEEDS_NGINX
def test_cache_stores_no_preview_and_everybody_else_gets_none(cached: Cached) -> None:
    previews = cached.previews
    post_id = previews.create_draft("Only for reviewers")
    _, token = previews.create_link(post_id)
    document = f"/graphql?query=%7Bpost(id:%22{post_id}%22)%7Btitle%7D%7D"

    for path, hidden in ((f"/posts/{post_id}", 404), (document, 200), ("/preview", 404)):
        for _ in range(2):
            shown = previews.get(path, token)
            assert (shown.status, shown.headers["X-Cache"]) == (200, "MISS")
            assert "Only for reviewers" in shown.body
        public = previews.get(path)
        assert public.status == hidden
        assert "Only for reviewers" not in public.body

    assert json.loads(previews.get(KEYS).body) == json.loads(previews.get(KEYS).body)
    assert previews.get(KEYS).headers["X-Cache"] == "HIT"  # the cache works
    assert cached.list_stored()
    assert not any(b"Only for reviewers" in stored for stored in cached.list_stored())


def test_link_that_has_ended_shows_nothing_on_any_server_from_the_next_request_on(
    get_shared_server: Callable[[str], SharedServer],
) -> None:
    shared = get_shared_server("granian")
    site = shared.live.site
    with site.serve("gunicorn") as other:
        here, there = (Previews(HttpClient(each.address), shared.key) for each in (shared.live, other))
        post_id = here.create_draft("Ebb")
        (revoked, first), (expired, second) = (here.create_link(post_id) for _ in range(2))
        assert [each.read_outcome(token) for each in (here, there) for token in (first, second)] == ["Ebb"] * 4

        here.revoke(revoked)
        assert [each.read_outcome(first) for each in (there, here)] == ["UNAUTHENTICATED"] * 2
        with site.connect() as connection:
            connection.execute("UPDATE blog_previewlink SET expires_at = now() WHERE id = %s", [expired])
        assert [each.read_outcome(second) for each in (there, here)] == ["PREVIEW_EXPIRED"] * 2
