"""A shared cache in front of the server, nginx with a cache, stores no preview."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.hostile.servers import find_nginx, start_nginx
from tests.e2e.http_client import HttpClient, HttpResponse
from tests.e2e.shared_servers import SharedServer

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(find_nginx() is None, reason="nginx is not installed"),
]
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


class Cached(NamedTuple):
    """A server behind nginx, and the folder with what nginx has stored."""

    client: HttpClient
    key: str
    folder: Path

    def create_draft(self, title: str) -> tuple[str, str]:
        """Return the id of a new draft, and a preview token of it."""
        creation = f'mutation {{ createPost(input: {{title: "{title}", body: "{title}"}}) {{ id }} }}'
        post_id = str(self.query(creation)["createPost"]["id"])
        link = f'mutation {{ createPreviewLink(input: {{postId: "{post_id}"}}) {{ token }} }}'
        return post_id, str(self.query(link)["createPreviewLink"]["token"])

    def query(self, document: str) -> dict[str, dict[str, object]]:
        data: dict[str, dict[str, object]] = self.client.query(document, X_API_Key=self.key).json["data"]
        return data

    def get(self, path: str, token: str = "") -> HttpResponse:
        return self.client.get(path, **({"Preview_Token": token} if token else {}))

    def list_stored(self) -> list[bytes]:
        return [path.read_bytes() for path in (self.folder / "cache").rglob("*") if path.is_file()]


@pytest.fixture
def cached(shared_server: SharedServer, tmp_path: Path) -> Iterator[Cached]:
    text = CONFIGURATION.replace("%(folder)s", str(tmp_path))
    with start_nginx(shared_server.port, tmp_path, text=text) as port:
        yield Cached(HttpClient(f"http://127.0.0.1:{port}"), shared_server.key, tmp_path)


def test_cache_stores_no_preview_and_everybody_else_gets_none(cached: Cached) -> None:
    post_id, token = cached.create_draft("Only for reviewers")
    document = f"/graphql?query=%7Bpost(id:%22{post_id}%22)%7Btitle%7D%7D"

    for path, hidden in ((f"/posts/{post_id}", 404), (document, 200), ("/preview", 404)):
        for _ in range(2):
            shown = cached.get(path, token)
            assert (shown.status, shown.headers["X-Cache"]) == (200, "MISS")
            assert "Only for reviewers" in shown.body
        public = cached.get(path)
        assert public.status == hidden
        assert "Only for reviewers" not in public.body

    assert json.loads(cached.get(KEYS).body) == json.loads(cached.get(KEYS).body)
    assert cached.get(KEYS).headers["X-Cache"] == "HIT"  # the cache works
    assert cached.list_stored()
    assert not any(b"Only for reviewers" in stored for stored in cached.list_stored())
