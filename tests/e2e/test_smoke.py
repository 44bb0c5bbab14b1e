"""The only test of `make test` that starts the server: the others are left to `make test-servers`."""

from tests.deployment.live_server import Site
from tests.e2e.http_client import HttpClient


def test_server_starts_answers_on_both_transports_and_ends(site: Site) -> None:
    with site.serve("granian") as server:
        query = server.query("{ posts(limit: 1) { title } }")
        resource = HttpClient(server.address).get("/posts?limit=1")

        assert (query.status, resource.status) == (200, 200)
        assert query.json["data"]["posts"][0]["title"] == resource.json["data"][0]["title"]
        assert server.end() == 0
