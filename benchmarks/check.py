"""Compares the responses of every server with the reference, and checks that no server caches responses."""

import http.client
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from email.message import Message
from itertools import product
from typing import Any

from benchmarks.conditions import BROWSER, CONDITIONS, ORIGIN, VARIED, headers_for
from benchmarks.servers import Server
from benchmarks.workloads import Data, operation, published_id, variables

TITLE = "Check \u201cthis\u201d"


def find_problems(server: Server, reference: list[Any], workloads: list[str]) -> list[str]:
    try:
        found = [
            f"{name} {values}: {difference}"
            for (name, values), expected in zip(list_cases(), reference, strict=True)
            if (difference := first_difference(request_data(server, name, values), expected))
        ]
        check_typename(server)
        check_create(server)
        check_freshness(server)
        check_browser(server)
        server.sizes = {pair: measure_size(server, *pair) for pair in product(workloads, CONDITIONS)}
    except (AssertionError, OSError) as error:
        return [str(error)]
    return found


def reference_responses(server: Server) -> list[Any]:
    return [request_data(server, name, values) for name, values in list_cases()]


def list_cases() -> Iterator[tuple[str, Data]]:
    rng = random.Random(7)
    for _ in range(5):
        yield "post", {"id": str(published_id(rng))}
    for limit in (9, 10, 11):
        yield "page10", {"limit": limit, "status": "published"}
    for limit in (98, 99, 100):
        yield "page100", {"limit": limit}


def request_data(server: Server, name: str, values: Data, condition: str = VARIED) -> Any:
    """Return the data of a response in the common shape, normalised for comparison."""
    dialect = server.peer.dialect
    content, _ = send(server, name, dialect.body(name, values), condition)
    response = json.loads(content)
    require("errors" not in response, f"{name}: {json.dumps(response)[:600]}")
    return normalise(dialect.from_data(name, response["data"]))


def send(server: Server, name: str, body: str, condition: str = VARIED) -> tuple[bytes, Message]:
    """Return the body and the headers of a response, which must have status 200."""
    headers = headers_for(condition, server.credential_for(name))
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        connection.request("POST", "/graphql", body.encode(), headers)
        response = connection.getresponse()
        content = response.read()
    finally:
        connection.close()
    require(response.status == 200, f"{name}: HTTP {response.status}: {content[:600]!r}")
    return content, response.headers


def normalise(value: Any, key: str = "") -> Any:
    """Return a value with ids as strings and times in UTC: JSON has no type for either."""
    if isinstance(value, dict):
        return {name: normalise(member, name) for name, member in value.items()}
    if isinstance(value, list):
        return [normalise(member) for member in value]
    if key == "id":
        return str(value)
    if key in ("createdAt", "updatedAt"):
        return datetime.fromisoformat(value).astimezone(UTC).isoformat()
    return value


def first_difference(found: Any, expected: Any, path: str = "data") -> str | None:
    if type(found) is type(expected) is dict and found.keys() == expected.keys():
        pairs = [(f"{path}.{name}", found[name], expected[name]) for name in found]
    elif type(found) is type(expected) is list and len(found) == len(expected):
        pairs = [(f"{path}[{place}]", *pair) for place, pair in enumerate(zip(found, expected, strict=True))]
    else:
        return None if found == expected else f"{path}: {found!r:.80} instead of {expected!r:.80}"
    return next(filter(None, (first_difference(one, other, place) for place, one, other in pairs)), None)


def check_typename(server: Server) -> None:
    found = request_data(server, "typename", {})
    require(found == {"__typename": "Query"}, f"typename: {found}")


def check_create(server: Server) -> None:
    values = {"input": {"title": TITLE, "body": "b", "authorId": "7"}}
    made = request_data(server, "create", values)["createPost"]
    stored = server.database.row(f"SELECT title, status, author_id FROM blog_post WHERE id = {int(made['id'])}")
    require((made["title"], made["status"]) == (TITLE, "draft"), f"create: {made}")
    require(stored == (TITLE, "draft", 7), f"create: stored {stored}")
    server.database.clean()


def check_freshness(server: Server) -> None:
    """Change a row in the database and check that the same request returns the change."""
    newest, title = server.database.row(
        "SELECT id, title FROM blog_post WHERE status = 'published' ORDER BY created_at DESC, id DESC LIMIT 1"
    )
    requests: dict[str, Data] = {
        "post": {"id": str(newest)},
        "page10": {"limit": 10, "status": "published"},
        "page100": {"limit": 100},
    }
    for name, values in requests.items():
        require(
            title in json.dumps(request_data(server, name, values), ensure_ascii=False), f"{name}: not the newest post"
        )
        server.database.change_title(newest, "Changed")
        try:
            require(
                "Changed" in json.dumps(request_data(server, name, values)), f"{name}: a stale response after an UPDATE"
            )
        finally:
            server.database.change_title(newest, title)


def check_browser(server: Server) -> None:
    """Check that a browser gets the same response, uncompressed, and from our server with CORS headers."""
    values = {"id": "1"}
    same = request_data(server, "post", values, BROWSER) == request_data(server, "post", values)
    require(same, "post: another response to a browser")
    _, headers = send(server, "post", server.peer.dialect.body("post", values), BROWSER)
    require(headers["Content-Encoding"] is None, "post: a compressed response")
    if server.peer.is_ours:
        require(headers["Access-Control-Allow-Origin"] == ORIGIN, f"post: no CORS headers: {headers.items()}")


def measure_size(server: Server, workload: str, condition: str) -> int:
    """Return the average size of a response to a workload in bytes, headers included."""
    rng = random.Random(7)
    dialect, name, count = server.peer.dialect, operation(workload), 5
    bodies = [dialect.body(workload, variables(workload, rng, n), n, f"check_{condition}") for n in range(count)]
    size = 0
    for body in bodies:
        content, headers = send(server, workload, body, condition)
        require("errors" not in json.loads(content), f"{workload}: {content[:600]!r}")
        size += len("HTTP/1.1 200 OK\r\n") + len(headers.as_bytes()) + len(content)
    if name == "create":
        server.database.delete_created_posts()
    return size // count


def require(holds: bool, message: str) -> None:  # noqa: FBT001 - as `assert`
    if not holds:
        raise AssertionError(message)
