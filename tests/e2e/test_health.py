"""/healthz and /readyz, on a PostgreSQL and a Redis that are missing, unmigrated, stopped or hang."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deployment.checkout import Checkout
from tests.deployment.hosts import SECRET, Host, HostResponse
from tests.deployment.postgresql import PostgresServer
from tests.deployment.processes import wait_until
from tests.deployment.redis_server import RedisServer
from tests.deployment.template import Template

pytestmark = pytest.mark.servers

HANGING = {"database": "PostgreSQL does not respond in time.", "redis": "Redis does not respond in time."}
NOT_READY = "Not ready: database."


@pytest.fixture
def database(tmp_path: Path, template: Template) -> Iterator[PostgresServer]:
    """A PostgreSQL with the migrated database "contentapi". It is not started."""
    database = template.copy_data(tmp_path / "operators")
    yield database
    database.remove()


def start(host: Host) -> None:
    """Start a server without a request to its database."""
    host.spawn()
    wait_until(lambda: get(host, "/healthz").status == 200, "the start")


def get(host: Host, path: str) -> HostResponse:
    """Send a request as a load balancer does: with an address as the Host. The status is 0 if nobody listens."""
    try:
        return host.request("GET", path, Host="10.1.2.3:8000")
    except OSError:
        assert host.process
        assert host.process.poll() is None, host.log.read_text()
        return HostResponse(0, {}, None)


def get_failures(response: HostResponse) -> dict[str, str]:
    """Return the reasons of the checks that failed."""
    return {name: each["reason"] for name, each in response.body["checks"].items() if each["status"] == "failed"}


def wait_for_failures(host: Host, *names: str) -> HostResponse:
    """Return the first readiness in which exactly these checks fail. On a busy machine, others may be late."""
    found: list[HostResponse] = []

    def has_them() -> bool:
        found.append(get(host, "/readyz"))
        return [*get_failures(found[-1])] == [*names]

    wait_until(has_them, f"the failure of {names}")
    return found[-1]


def test_unmigrated_database_is_stated_and_migrating_makes_the_server_ready(
    new_checkout: Checkout, database: PostgresServer
) -> None:
    """The command of the Procfile. It creates no embedded PostgreSQL and no demo."""
    database.start()
    database.execute("CREATE DATABASE empty")
    variables = {"DATABASE_URL": database.build_url("empty"), "SECRET_KEY": SECRET, "JWT_SECRET": SECRET}
    variables["WEB_CONCURRENCY"] = "2"  # which share the line of the log
    run = new_checkout.serve_as_the_procfile(**variables, CONTENTAPI_HTTPS="on")
    host = Host(run.log, {}, port=int(run.port))  # sends the requests
    host.process = run.process
    wait_until(lambda: get(host, "/healthz").status == 200, "the start")

    unmigrated = wait_for_failures(host, "migrations")
    assert (unmigrated.status, unmigrated.headers["Retry-After"]) == (503, "5")
    assert "Run python manage.py migrate." in get_failures(unmigrated)["migrations"]
    lines = [line for line in run.printed.splitlines() if "migrations are not applied" in line]
    assert "Until then /readyz is 503" in lines[0]
    assert sum("Until then /readyz is 503" in line for line in lines) == 1
    posts = host.request("GET", "/posts", X_Forwarded_Proto="https")
    assert (posts.status, posts.headers["X-Error-Code"]) == (503, "UNAVAILABLE")

    assert new_checkout.manage("migrate", "--noinput", **variables).returncode == 0

    wait_until(lambda: get(host, "/readyz").status == 200, "the readiness")
    assert host.request("GET", "/posts", X_Forwarded_Proto="https").body["data"] == []
    assert not (new_checkout.folder / "var" / "postgres").exists()


def test_databases_that_are_missing_or_hang_are_named_until_they_respond(
    database: PostgresServer, redis_server: RedisServer, tmp_path: Path
) -> None:
    host = Host(tmp_path / "log", {"DATABASE_URL": database.build_url(), "REDIS_URL": redis_server.url})
    try:
        start(host)
        down = wait_for_failures(host, "database")
        assert down.status == 503
        assert str(database.port) not in json.dumps(down.body)
        assert "The server starts, and is ready when the database is." in host.log.read_text()

        database.start()
        wait_until(lambda: get(host, "/readyz").status == 200, "the readiness")

        before = host.log.read_text().count(NOT_READY)
        redis_server.hang()
        with database.suspended():
            wait_until(lambda: get_failures(get(host, "/readyz")) == HANGING, "the end of the cached results")
            hanging = [get(host, "/readyz") for _ in range(5)]  # each in time, or this would not end
            assert get(host, "/healthz").status == 200
        redis_server.go_on()
        assert [response.status for response in hanging] == [503] * 5
        wait_until(lambda: get(host, "/readyz").status == 200, "the recovery")
        assert host.log.read_text().count(NOT_READY) == before + 1
    finally:
        host.stop()
