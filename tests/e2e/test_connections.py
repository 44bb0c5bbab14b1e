"""HTTP connections on the wire, on both servers: what a client sends to one request must not affect another."""

import json
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection, HTTPResponse
from threading import Barrier

import pytest

from tests.e2e.shared_servers import SharedServer

pytestmark = pytest.mark.servers

MIB = 1024 * 1024
JSON = "Content-Type: application/json\r\n"
QUERY = b'{"query": "{ __typename }"}'


class Connection:
    """A connection that sends requests byte for byte."""

    def __init__(self, server: SharedServer) -> None:
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=60)

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
def connection(shared_server: SharedServer) -> Iterator[Connection]:
    with closing(Connection(shared_server)) as connection:
        yield connection


REFUSED = [
    (f"POST /graphql HTTP/1.1\r\nHost: localhost\r\n{JSON}", b" " * (MIB + 1), 413),
    (f"POST /posts HTTP/1.1\r\nHost: localhost\r\n{JSON}", b" " * (3 * MIB), 413),
    ("POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n", b"x" * 50_000, 415),
    (f"POST /posts HTTP/1.1\r\nHost: localhost\r\nX-API-Key: none\r\n{JSON}", b"{" * 50_000, 401),
    ("POST /nowhere HTTP/1.1\r\nHost: localhost\r\n", b"x" * 50_000, 404),
    ("POST /oauth/token HTTP/1.1\r\nHost: elsewhere.invalid\r\n", b"x" * 50_000, 400),
]


def test_refused_bodies_leave_the_connection_usable(connection: Connection) -> None:
    for head, body, status in REFUSED:
        refused = connection.send(head, body)

        assert (refused.status, refused.headers["Connection"] != "close") == (status, True), head
        after = connection.send(f"POST /graphql HTTP/1.1\r\nHost: localhost\r\n{JSON}", QUERY)
        assert after.status == 200, head


def test_body_too_long_to_read_closes_the_connection(shared_server: SharedServer) -> None:
    for path in ("/graphql", "/posts"):
        with closing(Connection(shared_server)) as connection:
            refused = connection.send(f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{JSON}", length=100 * MIB)

            assert (refused.status, refused.headers["Connection"]) == (413, "close"), path
            assert connection.socket.recv(1) == b"", path


def test_requests_need_an_allowed_host(shared_server: SharedServer) -> None:
    cases = [
        ("GET /posts HTTP/1.1\r\n", 400),
        ("GET /posts HTTP/1.1\r\nHost: elsewhere.invalid\r\n", 400),
        ("GET /posts HTTP/1.1\r\nHost: localhost\r\nHost: elsewhere.invalid\r\n", 400),
        ("GET http://localhost/posts HTTP/1.1\r\nHost: localhost\r\n", 200),
        ("GET http://elsewhere.invalid/posts HTTP/1.1\r\n", 400),
        ("GET /posts HTTP/1.0\r\n", 200),
    ]
    for head, status in cases:
        with closing(Connection(shared_server)) as connection:
            assert connection.send(head).status == status, head


def test_chunked_body_is_read(shared_server: SharedServer) -> None:
    client = HTTPConnection("127.0.0.1", shared_server.port, timeout=60)
    parts = iter([b'{"query": ', b'"{ __typename }"}'])

    client.request("POST", "/graphql", parts, {"Content-Type": "application/json"}, encode_chunked=True)

    response = client.getresponse()
    assert (response.status, json.load(response)) == (200, {"data": {"__typename": "Query"}})
    client.close()


CLIENTS, DOCUMENTS = 64, 4


def test_64_connections_with_a_new_document_in_each_request_get_no_503(
    get_shared_server: Callable[[str], SharedServer],
) -> None:
    """Clients that write ids into their documents send no document twice. All of them arrive at once here."""
    server, ready = get_shared_server("granian"), Barrier(CLIENTS)

    def send_new_documents(client: int) -> list[int]:
        with closing(Connection(server)) as connection:
            ready.wait(60)
            bodies = [b'{"query": "{ post(id: %d%d) { id } }"}' % (client + 1, number) for number in range(DOCUMENTS)]
            head = f"POST /graphql HTTP/1.1\r\nHost: localhost\r\n{JSON}"
            return [connection.send(head, body).status for body in bodies]

    with ThreadPoolExecutor(CLIENTS) as threads:
        statuses = Counter(status for each in threads.map(send_new_documents, range(CLIENTS)) for status in each)

    assert statuses == {200: CLIENTS * DOCUMENTS}


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


def read(server: SharedServer, path: str, headers: dict[str, str]) -> tuple[int, str | None, str]:
    """Return status, Location and body, without what differs between any two requests."""
    client = HTTPConnection("127.0.0.1", server.port, timeout=60)
    client.request("GET", path, headers={"Host": "localhost", **headers})
    response = client.getresponse()
    text = response.read().decode()
    client.close()
    if "csrfmiddlewaretoken" in text:
        text = "a form"
    return response.status, response.headers["Location"], text


def test_headers_of_proxies_have_no_effect_when_a_client_sends_them(shared_server: SharedServer) -> None:
    paths = ["/posts?limit=1", "/admin/", "/admin/login/", "/.well-known/oauth-authorization-server", "/oauth/login"]

    plain = [read(shared_server, path, {}) for path in paths]
    spoofed = [[read(shared_server, path, {name: value}) for path in paths] for name, value in SPOOFED.items()]

    assert [status for status, _, _ in plain] == [200, 302, 200, 200, 200]
    assert json.loads(plain[3][2])["issuer"].startswith("http://localhost")
    assert spoofed == [plain] * len(SPOOFED)


def test_absolute_target_of_another_host_is_refused_by_gunicorn_only(
    shared_server: SharedServer, connection: Connection
) -> None:
    """granian uses the checked `Host` and does not pass the target's host on (docs/http.md, "Connections")."""
    response = connection.send("GET http://elsewhere.invalid/posts HTTP/1.1\r\nHost: localhost\r\n")

    assert response.status == (400 if shared_server.kind == "gunicorn" else 200)


def test_header_name_with_an_underscore_is_dropped_by_gunicorn_only(
    shared_server: SharedServer, connection: Connection
) -> None:
    """WSGI cannot tell it from the name with a hyphen, and granian passes it on (docs/http.md, "Connections")."""
    head = f"POST /graphql HTTP/1.1\r\nHost: localhost\r\n{JSON}X_API_Key: {shared_server.key}\r\n"

    response = connection.send(head, b'{"query": "{ viewer { role } }"}')

    viewer = None if shared_server.kind == "gunicorn" else {"role": "admin"}
    assert json.loads(response.content) == {"data": {"viewer": viewer}}  # type: ignore[attr-defined]
