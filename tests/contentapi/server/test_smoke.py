"""The only test of `make test` that starts the server: the others are left to `make test-servers`."""

from pathlib import Path
from urllib.parse import quote

import pytest
from django.db import connection

from tests.deployment.hosts import Host
from tests.factories import make_post


@pytest.mark.django_db(transaction=True)
def test_server_starts_answers_on_both_transports_and_ends(tmp_path: Path) -> None:
    make_post(title="Soup")
    database = connection.get_connection_params()
    address = f"{database['user']}@{quote(database['host'], safe='')}:{database.get('port', 5432)}"
    host = Host(tmp_path / "log", {"DATABASE_URL": f"postgresql://{address}/{database['dbname']}"}).start()
    process = host.process

    try:
        query = host.request("POST", "/graphql", {"query": "{ posts(limit: 1) { title } }"})
        resource = host.request("GET", "/posts?limit=1")
    finally:
        host.stop()

    assert (query.status, resource.status) == (200, 200)
    assert query.body["data"]["posts"][0]["title"] == resource.body["data"][0]["title"] == "Soup"
    assert process is not None
    assert process.returncode == 0
