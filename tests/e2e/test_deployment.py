"""A deployment: the Procfile's server on a PostgreSQL of the operator's own, and that PostgreSQL failing."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from tempfile import gettempdir
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from tests.contentapi.db.embedded.server_users import ServerUser, get_postmaster
from tests.e2e.checkout import Checkout, Run, free_port

pytestmark = pytest.mark.processes

SECRET = "a secret of more than fifty characters 0123456789 abcdefgh"
NO_POSTS: tuple[int, Any, None] = (200, {"data": {"posts": []}}, None)


class Database:
    """A PostgreSQL that can be stopped and started at the same address."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "postgres"
        self.address = Path(gettempdir()) / f"database-{uuid4().hex}"  # the path of a socket has at most 107 bytes
        self.url = f"postgresql://postgres@/postgres?host={self.address}"
        self.start()

    def start(self) -> None:
        self.server_user = ServerUser(self.data)
        self.address.unlink(missing_ok=True)
        self.address.symlink_to(self.server_user.socket_folder)

    def stop(self) -> None:
        self.server_user.finish()
        self.address.unlink(missing_ok=True)

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Stop the processes of the server for a while, as if its machine hung."""
        postmaster = get_postmaster(self.data)
        processes = [postmaster, *postmaster.children()]
        for process in processes:
            process.suspend()
        try:
            yield
        finally:
            for process in processes:
                process.resume()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    folder = tmp_path / "operators"
    folder.mkdir()
    database = Database(folder)
    yield database
    database.stop()


@pytest.fixture
def run_on_database(checkout: Checkout, database: Database) -> Run:
    variables = {"DATABASE_URL": database.url, "SECRET_KEY": SECRET, "JWT_SECRET": SECRET}
    variables["CONTENTAPI_RATE_ANONYMOUS"] = "1000000/minute"
    assert checkout.manage("migrate", "--noinput", **variables).returncode == 0
    run = checkout.serve_as_the_procfile(free_port(), **variables)
    run.wait_for("Booting worker")
    return run


def send_query(run: Run, query: str = "{ posts { id } }") -> tuple[int, Any, str | None]:
    """Send a query. Return the status, the body without the request id, and Retry-After."""
    connection = HTTPConnection("localhost", int(run.port), timeout=30)
    connection.request("POST", "/graphql", json.dumps({"query": query}), {"Content-Type": "application/json"})
    response = connection.getresponse()
    body = json.load(response)
    connection.close()
    for error in body.get("errors", []):
        error["extensions"].pop("requestId")
    return response.status, body, response.headers["Retry-After"]


def build_unavailable_response(path: str) -> tuple[int, Any, str]:
    error = {
        "message": "The service is temporarily unavailable. Try again shortly.",
        "locations": [{"line": 1, "column": 3}],
        "path": [path],
        "extensions": {"code": "UNAVAILABLE", "status": 503},
    }
    return 503, {"errors": [error], "data": None}, "5"


def test_requests_are_503_while_the_database_is_down_and_then_200(run_on_database: Run, database: Database) -> None:
    before = send_query(run_on_database)
    database.stop()

    during = send_query(run_on_database)
    database.start()
    after = send_query(run_on_database)

    assert before == NO_POSTS
    assert during == build_unavailable_response("posts")
    assert after == NO_POSTS


def test_requests_are_503_within_two_seconds_while_the_database_hangs(run_on_database: Run, database: Database) -> None:
    before = send_query(run_on_database)
    with database.suspended():
        first = time_query(run_on_database)
        second = time_query(run_on_database)
        without_database = send_query(run_on_database, "{ __typename }")
    deadline = time.monotonic() + 5
    while (after := send_query(run_on_database)) != NO_POSTS:
        assert time.monotonic() < deadline

    assert before == after == NO_POSTS
    assert first[0] == second[0] == build_unavailable_response("posts")
    assert first[1] < 2
    assert second[1] < 2  # another worker may have to notice it
    assert without_database[0] == 200


def time_query(run: Run) -> tuple[tuple[int, Any, str | None], float]:
    """Return what `send_query` returns, and its time in seconds."""
    start = time.monotonic()
    return send_query(run), time.monotonic() - start


FORM = {"Content-Type": "application/x-www-form-urlencoded"}
SESSION = {"Cookie": "sessionid=abcdefghijklmnopqrstuvwxyz012345"}


def get_status(run: Run, method: str, path: str, body: str, headers: dict[str, str]) -> tuple[int, str | None]:
    connection = HTTPConnection("localhost", int(run.port), timeout=30)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status, response.headers["Retry-After"]


@pytest.mark.slow
def test_authentication_is_503_while_the_database_is_down(run_on_database: Run, database: Database) -> None:
    requests: list[tuple[str, str, str, dict[str, str]]] = [
        ("POST", "/oauth/token", "grant_type=refresh_token&refresh_token=x&client_id=x", FORM),
        ("POST", "/oauth/revoke", "token=x&client_id=x", FORM),
        ("GET", "/oauth/authorize?client_id=x", "", {}),
        ("GET", "/admin/", "", SESSION),
    ]
    otherwise = [(401, None), (401, None), (400, None), (302, None)]

    before = [get_status(run_on_database, *request) for request in requests]
    database.stop()
    during = [get_status(run_on_database, *request) for request in requests]
    database.start()
    after = [get_status(run_on_database, *request) for request in requests]

    assert (before, during, after) == (otherwise, [(503, "5")] * 4, otherwise)


def read_lines(run: Run, logger: str) -> list[dict[str, Any]]:
    """Return the JSON lines of a logger. A deployment whose standard error is no terminal writes them."""
    lines = [json.loads(line) for line in run.printed.splitlines() if line.startswith('{"time"')]
    return [line for line in lines if line["logger"] == logger]


@pytest.mark.slow
def test_outage_is_one_log_line_a_second_for_all_workers(run_on_database: Run, database: Database) -> None:
    assert send_query(run_on_database)[0] == 200
    database.stop()
    start = time.monotonic()
    refused = []
    while time.monotonic() < start + 3:
        refused += [
            send_query(run_on_database)[0],
            get_status(run_on_database, "GET", "/posts", "", {})[0],
            get_status(run_on_database, "GET", "/admin/", "", SESSION)[0],
        ]
    seconds = time.monotonic() - start
    time.sleep(1.5)  # the last line
    database.start()

    assert set(refused) == {503}
    assert len(refused) > 30
    lines = read_lines(run_on_database, "contentapi.outages")
    counts = [int(re.findall(r"unavailable: (\d+) requests? got 503", line["message"])[0]) for line in lines]
    assert sum(counts) == len(refused)
    assert len(lines) <= seconds + 2
    assert [line["status"] for line in read_lines(run_on_database, "contentapi.requests")] == [200]
    assert "Traceback" not in run_on_database.printed


@pytest.mark.slow
def test_statement_that_waits_too_long_is_503(run_on_database: Run, database: Database) -> None:
    with psycopg.connect(database.url) as connection:
        connection.execute("LOCK TABLE blog_post IN ACCESS EXCLUSIVE MODE")

        assert send_query(run_on_database) == build_unavailable_response("posts")

    assert send_query(run_on_database) == NO_POSTS


@pytest.mark.slow
def test_request_id_of_a_500_leads_to_its_traceback_in_the_log(run_on_database: Run, database: Database) -> None:
    with psycopg.connect(database.url) as inside:
        inside.execute("ALTER TABLE blog_post RENAME COLUMN title TO lost_title")

    client = HTTPConnection("localhost", int(run_on_database.port), timeout=30)
    client.request("POST", "/graphql", '{"query": "{ posts { title } }"}', {"Content-Type": "application/json"})
    response = client.getresponse()
    text = response.read().decode()
    client.close()

    request_id = response.headers["X-Request-ID"]
    error = {
        "message": "Internal server error",
        "locations": [{"line": 1, "column": 3}],
        "path": ["posts"],
        "extensions": {"code": "INTERNAL", "status": 500, "requestId": request_id},
    }
    assert (response.status, json.loads(text)) == (500, {"errors": [error], "data": None})
    [line] = [line for line in read_lines(run_on_database, "contentapi.requests") if line["request_id"] == request_id]
    assert (line["level"], line["message"]) == ("ERROR", "POST /graphql 500 INTERNAL ProgrammingError")
    assert line["traceback"].startswith("Traceback (most recent call last):")
    assert "blog_post.title does not exist" in line["traceback"]


def test_deployment_creates_no_embedded_server_and_no_demo(run_on_database: Run, checkout: Checkout) -> None:
    assert send_query(run_on_database) == NO_POSTS
    assert not (checkout.folder / "var").exists()


def test_chunked_body_is_read(run_on_database: Run) -> None:
    connection = HTTPConnection("localhost", int(run_on_database.port), timeout=30)
    parts = iter([b'{"query": ', b'"{ __typename }"}'])

    connection.request("POST", "/graphql", parts, {"Content-Type": "application/json"}, encode_chunked=True)

    response = connection.getresponse()
    assert (response.status, json.load(response)) == (200, {"data": {"__typename": "Query"}})
    connection.close()
