"""A running server and the keys of its tokens: no restart, no token lost."""

import json

import pytest

from tests.deployment.live_server import LiveServer, Site
from tests.deployment.processes import wait_until
from tests.e2e.http_client import HttpClient
from tests.e2e.test_oauth import get_status_with_token

pytestmark = pytest.mark.servers

EMAIL = "author@example.com"  # of the demo


def get_key_ids(server: LiveServer) -> list[str]:
    keys = json.loads(HttpClient(server.address).get("/.well-known/jwks.json").body)["keys"]
    return [key["kid"] for key in keys]


def test_two_servers_accept_each_others_tokens_also_after_a_rotation(site: Site) -> None:
    with site.serve("granian", WEB_CONCURRENCY="2") as one, site.serve("gunicorn") as other:
        servers = (one, other)
        before = site.manage("issue_token", EMAIL)
        old = get_key_ids(one)
        assert get_key_ids(other) == old
        assert {get_status_with_token(server, before) for server in servers * 8} == {200}

        new, after = site.manage_all(["rotate_jwt_key"], ["issue_token", EMAIL])

        statuses = {get_status_with_token(server, token) for server in servers for token in (after, before) * 8}
        assert statuses == {200}
        for server in servers:  # each worker, before long
            wait_until(lambda: [get_key_ids(server) for _ in range(8)] == [[new, *old]] * 8, "the new key")  # noqa: B023
