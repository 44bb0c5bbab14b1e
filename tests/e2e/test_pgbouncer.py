"""The server behind a PgBouncer in transaction mode, whose connections serve another client after each transaction."""

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from tests.deployment.hosts import Host
from tests.deployment.pgbouncer import PgBouncer
from tests.deployment.postgresql import PostgresServer
from tests.deployment.processes import PATIENCE, ROOT, wait_until
from tests.deployment.template import Template

pytestmark = pytest.mark.servers

POOL = 3  # connections to PostgreSQL
CLIENTS = 24  # requests at a time


@dataclass
class Pooled:
    server: PostgresServer
    pool: PgBouncer
    host: Host
    key: str


@pytest.fixture(scope="module")
def pooled(tmp_path_factory: pytest.TempPathFactory, template: Template) -> Iterator[Pooled]:
    with start_pooled(tmp_path_factory.mktemp("pooled"), template) as pooled:
        yield pooled


@contextmanager
def start_pooled(folder: Path, template: Template, **variables: str) -> Iterator[Pooled]:
    folder.chmod(0o755)
    with ExitStack() as stack:
        server = template.copy_data(folder / "primary")
        stack.callback(server.remove)
        server.start()
        pool = PgBouncer(folder / "pgbouncer", server, pool=POOL)
        stack.callback(pool.stop)
        variables = {"DATABASE_URL": pool.build_url(), "CONTENTAPI_THREADS": "16", **variables}
        host = Host(folder / "host.log", variables).start()
        stack.callback(host.stop)
        yield Pooled(server, pool, host, template.key)


def count_own_connections(server: PostgresServer) -> int:
    (row,) = server.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = 'contentapi' AND backend_type = 'client backend' "
        "AND pid <> pg_backend_pid()"
    )
    return int(row[0])


def test_many_clients_share_few_connections_with_prepared_statements(pooled: Pooled) -> None:
    selections = ["id", "id title", "title tags", "id author { name }", "id comments { body }", "body version"]

    def read(number: int) -> None:
        selection = selections[number % len(selections)]
        query = f"query Q($n: Int) {{ posts(limit: $n) {{ {selection} }} }}"
        limit = 1 + number % 3
        response = pooled.host.request("POST", "/graphql", {"query": query, "variables": {"n": limit}})
        assert response.status == 200, response.body
        assert len(response.body["data"]["posts"]) == limit
        assert pooled.host.request("GET", f"/posts?limit={limit}").status == 200

    def write(number: int) -> str:
        body = {"title": f"Pooled {number}", "body": "text"}
        headers = {"X_API_Key": pooled.key, "Idempotency_Key": f"key-{number}"}
        first = pooled.host.request("POST", "/posts", body, **headers)
        second = pooled.host.request("POST", "/posts", body, **headers)
        assert (first.status, second.status) == (201, 201)
        assert first.body == second.body
        changed = {"title": f"Changed {number}"}
        path = f"/posts/{first.body['id']}"
        assert pooled.host.request("PATCH", path, changed, X_API_Key=pooled.key).status == 200
        return str(first.body["id"])

    with ThreadPoolExecutor(CLIENTS) as executor:
        reads = [executor.submit(read, number) for number in range(240)]
        writes = [executor.submit(write, number) for number in range(40)]
        for done in reads:
            done.result()
        ids = {done.result() for done in writes}

    assert len(ids) == 40
    assert pooled.server.execute("SELECT count(*) FROM blog_post WHERE title LIKE 'Changed %'") == [(40,)]
    wait_until(lambda: count_own_connections(pooled.server) <= POOL, "the change")
    (figures,) = [row for row in pooled.pool.show("STATS") if row["database"] == "contentapi"]
    assert int(figures["total_bind_count"]) > 300
    # PgBouncer prepares a statement once for each of its connections, and each client of it once.
    assert int(figures["total_server_parse_count"]) < int(figures["total_bind_count"]) / 2


def test_request_waits_for_a_full_pool(pooled: Pooled) -> None:
    """Statements of others occupy the pool for longer than a database may be silent: nothing is cut."""
    assert pooled.host.request("GET", "/posts").status == 200
    with ThreadPoolExecutor(POOL) as executor:
        others = [executor.submit(sleep_in_database, pooled.pool, 3) for _ in range(POOL)]
        wait_until(lambda: count_sleeping(pooled.server) == POOL, "the change")

        response = pooled.host.request("GET", "/posts")

        assert response.status == 200
        assert count_sleeping(pooled.server) < POOL
        for other in others:
            other.result()


def sleep_in_database(pool: PgBouncer, seconds: int) -> None:
    with psycopg.connect(pool.build_url(), autocommit=True) as connection:
        connection.execute("SELECT pg_sleep(%s)", [seconds])


def count_sleeping(server: PostgresServer) -> int:
    sql = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'"
    return int(server.execute(sql)[0][0])


def test_worker_warns_that_it_has_no_session(pooled: Pooled) -> None:
    variables = {**pooled.host.environment, "CONTENTAPI_PROCESS": ""}
    worker = subprocess.Popen(
        [sys.executable, "manage.py", "worker"], cwd=ROOT, env=variables, stderr=subprocess.PIPE, text=True
    )
    try:
        assert worker.stderr is not None
        lines = worker.stderr.readline() + worker.stderr.readline()
        assert "The worker uses the database through a connection pooler" in lines
    finally:
        worker.terminate()
        worker.communicate(timeout=PATIENCE)


def test_postgresql_that_hangs_or_restarts_behind_the_pool_is_noticed(
    tmp_path_factory: pytest.TempPathFactory, template: Template
) -> None:
    """A deployment of its own: after a restart of PostgreSQL, each broken connection costs a request."""
    query = {"query": "{ posts(limit: 1) { id } }"}
    folder = tmp_path_factory.mktemp("hanging")
    with start_pooled(folder, template, CONTENTAPI_STATEMENT_TIMEOUT="1000") as pooled:

        def is_successful() -> bool:
            return pooled.host.request("POST", "/graphql", query).status == 200

        assert is_successful()
        with pooled.server.suspended():
            assert not is_successful()  # after the time of a statement and 0.75 seconds
            start = time.monotonic()
            for _ in range(12):  # a new connection to the pool does not end the silence, which would last 1.75 s again
                assert not is_successful()
                time.sleep(0.25)
            assert time.monotonic() - start < 12
        wait_until(is_successful, "the change")

        pooled.server.kill()
        assert not is_successful()
        pooled.server.start()
        wait_until(is_successful, "the change")
