"""A deployment: a server on a PostgreSQL of the operator's own, and that PostgreSQL failing."""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request

import pytest

from tests.deployment.hosts import Host
from tests.deployment.postgresql import PostgresServer
from tests.deployment.processes import wait_until
from tests.deployment.template import Template
from tests.e2e.http_client import HttpClient

pytestmark = pytest.mark.servers

QUERY = "{ posts(limit: 1) { title } }"
POSTS: tuple[int, Any, None] = (200, {"data": {"posts": [{"title": "How we name our boats"}]}}, None)
RECOVERY = 60  # seconds; five on an idle machine, as docs/operations/run.md says
SESSION = {"Cookie": "sessionid=abcdefghijklmnopqrstuvwxyz012345"}


@dataclass
class Deployment:
    """A database, and a gunicorn with two workers. Each test leaves both running."""

    database: PostgresServer
    host: Host
    refused: int = 0  # requests during outages

    def send_query(self, query: str = QUERY) -> tuple[int, Any, str | None]:
        """Send a query. Return the status, the body without the request id, and Retry-After."""
        response = self.host.request("POST", "/graphql", {"query": query})
        self.refused += response.status == 503
        for error in response.body.get("errors", []):
            error["extensions"].pop("requestId")
        return response.status, response.body, response.headers.get("Retry-After")

    def get_status(self, method: str, path: str, form: dict[str, str], headers: dict[str, str]) -> tuple[int, Any]:
        """Send a form, or a request without a body. Return the status and Retry-After."""
        address = f"http://localhost:{self.host.port}"
        request = Request(address + path, urlencode(form).encode() or None, headers, method=method)  # noqa: S310
        response = HttpClient(address).send(request)
        self.refused += response.status == 503
        return response.status, response.headers["Retry-After"]

    def read_lines(self, logger: str, begin: int = 0) -> list[dict[str, Any]]:
        """Return the JSON lines of a logger. A deployment whose standard error is no terminal writes them."""
        lines = [json.loads(line) for line in self.read_log()[begin:].splitlines() if line.startswith('{"time"')]
        return [line for line in lines if line["logger"] == logger]

    def count_refused(self) -> list[int]:
        """Return the numbers of refused requests in the lines about outages."""
        messages = [line["message"] for line in self.read_lines("contentapi.outages")]
        return [int(re.findall(r"unavailable: (\d+) requests? got 503", message)[0]) for message in messages]

    def read_log(self) -> str:
        return self.host.log.read_text()


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory, template: Template) -> Iterator[Deployment]:
    folder = tmp_path_factory.mktemp("deployment")
    database = template.copy_data(folder / "primary")
    host = Host(folder / "log", {"DATABASE_URL": database.build_url(), "WEB_CONCURRENCY": "2"}, server="gunicorn")
    try:
        database.start()
        host.start()
        yield Deployment(database, host)
    finally:
        host.stop()
        database.remove()


@pytest.fixture
def deployment(started: Deployment) -> Deployment:
    """Wait until both workers have recovered from the test before."""
    wait_until(lambda: [started.send_query() for _ in range(10)] == [POSTS] * 10, "the recovery")
    return started


def build_unavailable_response(path: str) -> tuple[int, Any, str]:
    error = {
        "message": "The service is temporarily unavailable. Try again shortly.",
        "locations": [{"line": 1, "column": 3}],
        "path": [path],
        "extensions": {"code": "UNAVAILABLE", "status": 503},
    }
    return 503, {"errors": [error], "data": None}, "5"


def test_requests_are_503_while_the_database_is_down_and_then_succeed(deployment: Deployment) -> None:
    requests: list[tuple[str, str, dict[str, str], dict[str, str]]] = [
        ("POST", "/oauth/token", {"grant_type": "refresh_token", "refresh_token": "x", "client_id": "x"}, {}),
        ("POST", "/oauth/revoke", {"token": "x", "client_id": "x"}, {}),
        ("GET", "/oauth/authorize?client_id=x", {}, {}),
        ("GET", "/admin/", {}, SESSION),
    ]
    otherwise = [(401, None), (401, None), (400, None), (302, None)]

    def get_statuses() -> list[tuple[int, Any]]:
        return [deployment.get_status(*request) for request in requests]

    wait_until(lambda: get_statuses() == otherwise, "both workers")
    deployment.database.stop()
    assert deployment.send_query() == build_unavailable_response("posts")
    assert get_statuses() == [(503, "5")] * 4
    deployment.database.start()
    wait_until(lambda: deployment.send_query() == POSTS, "the recovery", RECOVERY)
    wait_until(lambda: get_statuses() == otherwise, "the recovery of both workers", RECOVERY)


def test_requests_are_503_in_time_while_the_database_hangs(deployment: Deployment) -> None:
    """The limit is two seconds. A busy machine needs longer; without a limit, the worker would be killed after 30."""
    with deployment.database.suspended():
        start = time.monotonic()
        assert deployment.send_query() == build_unavailable_response("posts")
        assert deployment.send_query() == build_unavailable_response("posts")  # maybe from the other worker
        assert deployment.send_query("{ __typename }")[0] == 200
        assert time.monotonic() - start < 20

    wait_until(lambda: deployment.send_query() == POSTS, "the recovery")


def test_outage_is_one_log_line_a_second_for_all_workers(deployment: Deployment) -> None:
    wait_until(lambda: sum(deployment.count_refused()) == deployment.refused, "the last line of the outage before")
    before, begin = len(deployment.count_refused()), len(deployment.read_log())
    deployment.database.stop()
    start = time.monotonic()
    while time.monotonic() < start + 3:
        assert deployment.send_query()[0] == 503
        assert deployment.get_status("GET", "/posts", {}, {})[0] == 503
        assert deployment.get_status("GET", "/admin/", {}, SESSION)[0] == 503
    wait_until(lambda: sum(deployment.count_refused()) == deployment.refused, "the last line")
    seconds = time.monotonic() - start
    deployment.database.start()

    assert len(deployment.count_refused()) - before <= seconds + 2
    assert 503 not in {line["status"] for line in deployment.read_lines("contentapi.requests", begin)}
    assert "Traceback" not in deployment.read_log()[begin:]
