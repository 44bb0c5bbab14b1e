"""HTTP connections on the wire, on both servers: what a client sends to one request must not affect another."""

import json
import re
import socket
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPResponse

import pytest

from tests.e2e.checkout import Checkout, Run, free_port

pytestmark = pytest.mark.processes

MIB = 1024 * 1024
JSON = "Content-Type: application/json\r\n"
QUERY = b'{"query": "{ __typename }"}'


@pytest.fixture(params=["granian", "gunicorn"], scope="module")
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A server that all tests of this module share: they leave it as it was."""
    checkout = Checkout(tmp_path_factory.mktemp("connections") / "a checkout")
    run = checkout.run(f"SERVER={request.param}", port=free_port())
    yield run.wait_until_ready()
    run.interrupt()
    checkout.kill_everything()


class Connection:
    """A connection that sends requests byte for byte."""

    def __init__(self, run: Run) -> None:
        self.socket = socket.create_connection(("127.0.0.1", int(run.port)), timeout=20)

    def send(self, head: str, body: bytes = b"", *, length: int | None = None) -> HTTPResponse:
        """Send a request and return the response, which has been read. The body may be shorter than its length."""
        announced = len(body) if length is None else length
        self.socket.sendall(f"{head}Content-Length: {announced}\r\n\r\n".encode() + body)
        response = HTTPResponse(self.socket)
        response.begin()
        response.content = response.read()  # type: ignore[attr-defined]
        return response

    def close(self) -> None:
        self.socket.close()


@pytest.fixture
def connection(run: Run) -> Iterator[Connection]:
    with closing(Connection(run)) as connection:
        yield connection


@pytest.mark.parametrize(
    ("head", "body", "status"),
    [
        (f"POST /graphql HTTP/1.1\r\nHost: localhost\r\n{JSON}", b" " * (MIB + 1), 413),
        (f"POST /posts HTTP/1.1\r\nHost: localhost\r\n{JSON}", b" " * (3 * MIB), 413),
        ("POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n", b"x" * 50_000, 415),
        (f"POST /posts HTTP/1.1\r\nHost: localhost\r\nX-API-Key: none\r\n{JSON}", b"{" * 50_000, 401),
        ("POST /nowhere HTTP/1.1\r\nHost: localhost\r\n", b"x" * 50_000, 404),
        ("POST /oauth/token HTTP/1.1\r\nHost: elsewhere.invalid\r\n", b"x" * 50_000, 400),
    ],
)
def test_refused_body_leaves_the_connection_usable(connection: Connection, head: str, body: bytes, status: int) -> None:
    refused = connection.send(head, body)

    assert (refused.status, refused.headers["Connection"] != "close") == (status, True)
    after = connection.send(f"POST /graphql HTTP/1.1\r\nHost: localhost\r\n{JSON}", QUERY)
    assert after.status == 200


@pytest.mark.parametrize("path", ["/graphql", "/posts"])
def test_body_too_long_to_read_closes_the_connection(connection: Connection, path: str) -> None:
    refused = connection.send(f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{JSON}", length=100 * MIB)

    assert (refused.status, refused.headers["Connection"]) == (413, "close")
    assert connection.socket.recv(1) == b""


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("GET /posts HTTP/1.1\r\n", 400),
        ("GET /posts HTTP/1.1\r\nHost: elsewhere.invalid\r\n", 400),
        ("GET /posts HTTP/1.1\r\nHost: localhost\r\nHost: elsewhere.invalid\r\n", 400),
        ("GET http://localhost/posts HTTP/1.1\r\nHost: localhost\r\n", 200),
        ("GET http://elsewhere.invalid/posts HTTP/1.1\r\n", 400),
        ("GET /posts HTTP/1.0\r\n", 200),
    ],
)
def test_request_needs_an_allowed_host(connection: Connection, head: str, status: int) -> None:
    assert connection.send(head).status == status


SPOOFED = {
    "SCRIPT_NAME": "/elsewhere",
    "Script-Name": "/elsewhere",
    "PATH_INFO": "/nowhere",
    "Path-Info": "/nowhere",
    "X-Script-Name": "/elsewhere",
    "X-Forwarded-Prefix": "/elsewhere",
    "X-Forwarded-Host": "elsewhere.invalid",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Protocol": "ssl",
    "X-Forwarded-Ssl": "on",
    "X-Forwarded-Port": "443",
    "X-Forwarded-For": "192.0.2.1",
    "X_Forwarded_For": "192.0.2.1",
    "Forwarded": "for=192.0.2.1;host=elsewhere.invalid;proto=https",
    "X-Original-Url": "/nowhere",
    "X-Rewrite-Url": "/nowhere",
    "X-Http-Method-Override": "DELETE",
}


def read(run: Run, path: str, headers: dict[str, str]) -> tuple[int, str | None, str]:
    """Return status, Location and body, without what differs between any two requests."""
    client = HTTPConnection("127.0.0.1", int(run.port), timeout=20)
    client.request("GET", path, headers={"Host": "localhost", **headers})
    response = client.getresponse()
    text = response.read().decode()
    client.close()
    if "csrfmiddlewaretoken" in text:
        text = "a form"
    return response.status, response.headers["Location"], text


def test_headers_of_proxies_have_no_effect_when_a_client_sends_them(run: Run) -> None:
    paths = ["/posts?limit=1", "/admin/", "/admin/login/", "/.well-known/oauth-authorization-server", "/oauth/login"]

    plain = [read(run, path, {}) for path in paths]
    spoofed = [[read(run, path, {name: value}) for path in paths] for name, value in SPOOFED.items()]

    assert [status for status, _, _ in plain] == [200, 302, 200, 200, 200]
    assert json.loads(plain[3][2])["issuer"].startswith("http://localhost")
    assert spoofed == [plain] * len(SPOOFED)


def test_forwarded_address_gives_no_rate_limit_of_its_own(run: Run) -> None:
    client = HTTPConnection("127.0.0.1", int(run.port), timeout=20)
    remaining = []

    for number in range(12):  # enough for two requests to meet the same worker
        client.request("GET", "/posts", headers={"X-Forwarded-For": f"192.0.2.{number}"})
        response = client.getresponse()
        response.read()
        remaining.append(response.headers["RateLimit"])

    client.close()
    assert len(set(remaining)) > 1


def test_absolute_target_of_another_host_is_refused_by_gunicorn_only(run: Run, connection: Connection) -> None:
    """granian uses the checked `Host` and does not pass the target's host on (docs/http.md, "Connections")."""
    response = connection.send("GET http://elsewhere.invalid/posts HTTP/1.1\r\nHost: localhost\r\n")

    assert response.status == (400 if "gunicorn" in run.printed else 200)


def test_header_name_with_an_underscore_is_dropped_by_gunicorn_only(run: Run, connection: Connection) -> None:
    """WSGI cannot tell it from the name with a hyphen, and granian passes it on (docs/http.md, "Connections")."""
    key = re.search(r"API key +(\S+)", run.printed)
    assert key
    head = f"POST /graphql HTTP/1.1\r\nHost: localhost\r\n{JSON}X_API_Key: {key[1]}\r\n"

    response = connection.send(head, b'{"query": "{ viewer { role } }"}')

    viewer = None if "gunicorn" in run.printed else {"role": "admin"}
    assert json.loads(response.content) == {"data": {"viewer": viewer}}  # type: ignore[attr-defined]
