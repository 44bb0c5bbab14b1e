"""Correctness before speed: every server must give the answers of the obvious one, and none from a cache of answers."""

import http.client
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from benchmarks import dataset
from benchmarks.servers import Server
from benchmarks.workloads import Data, operation, published_id, variables

TITLE = "Check \u201cthis\u201d"


def problems_of(server: Server, reference: list[Any], workloads: list[str]) -> list[str]:
    try:
        found = [
            f"{name} {values}: {difference}"
            for (name, values), wanted in zip(cases(), reference, strict=True)
            if (difference := first_difference(ask(server, name, values), wanted))
        ]
        check_typename(server)
        check_create(server)
        check_freshness(server)
        server.sizes = {name: size_of_answer(server, name) for name in workloads}
    except (AssertionError, OSError) as trouble:
        return [str(trouble)]
    return found


def reference_answers(server: Server) -> list[Any]:
    return [ask(server, name, values) for name, values in cases()]


def cases() -> Iterator[tuple[str, Data]]:
    rng = random.Random(7)
    for _ in range(5):
        yield "post", {"id": str(published_id(rng))}
    for limit in (9, 10, 11):
        yield "page10", {"limit": limit, "status": "published"}
    for limit in (98, 99, 100):
        yield "page100", {"limit": limit}


def ask(server: Server, name: str, values: Data) -> Any:
    """Return the data of an answer in the common shape, made comparable."""
    dialect = server.peer.dialect
    answer = json.loads(send(server, name, dialect.body(name, values)))
    require("errors" not in answer, f"{name}: {json.dumps(answer)[:600]}")
    return normal(dialect.from_data(name, answer["data"]))


def send(server: Server, name: str, body: str) -> bytes:
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if credential := server.credential_for(name):
        headers[credential[0]] = credential[1]
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        connection.request("POST", "/graphql", body.encode(), headers)
        response = connection.getresponse()
        content = response.read()
    finally:
        connection.close()
    require(response.status == 200, f"{name}: HTTP {response.status}: {content[:600]!r}")
    return content


def normal(value: Any, key: str = "") -> Any:
    """Return a value with ids as strings and times in UTC: JSON has no type for either."""
    if isinstance(value, dict):
        return {name: normal(member, name) for name, member in value.items()}
    if isinstance(value, list):
        return [normal(member) for member in value]
    if key == "id":
        return str(value)
    if key in ("createdAt", "updatedAt"):
        return datetime.fromisoformat(value).astimezone(UTC).isoformat()
    return value


def first_difference(found: Any, wanted: Any, path: str = "data") -> str | None:
    if type(found) is type(wanted) is dict and found.keys() == wanted.keys():
        pairs = [(f"{path}.{name}", found[name], wanted[name]) for name in found]
    elif type(found) is type(wanted) is list and len(found) == len(wanted):
        pairs = [(f"{path}[{place}]", *pair) for place, pair in enumerate(zip(found, wanted, strict=True))]
    else:
        return None if found == wanted else f"{path}: {found!r:.80} instead of {wanted!r:.80}"
    return next(filter(None, (first_difference(one, other, place) for place, one, other in pairs)), None)


def check_typename(server: Server) -> None:
    found = ask(server, "typename", {})
    require(found == {"__typename": "Query"}, f"typename: {found}")


def check_create(server: Server) -> None:
    values = {"input": {"title": TITLE, "body": "b", "authorId": "7"}}
    made = ask(server, "create", values)["createPost"]
    stored = server.database.row(f"SELECT title, status, author_id FROM blog_post WHERE id = {int(made['id'])}")
    require((made["title"], made["status"]) == (TITLE, "draft"), f"create: {made}")
    require(stored == (TITLE, "draft", 7), f"create: stored {stored}")
    server.database.clean()


def check_freshness(server: Server) -> None:
    """Change a row behind the server's back and ask again, with the very same request."""
    newest, title = server.database.row(
        "SELECT id, title FROM blog_post WHERE status = 'published' ORDER BY created_at DESC, id DESC LIMIT 1"
    )
    requests: dict[str, Data] = {
        "post": {"id": str(newest)},
        "page10": {"limit": 10, "status": "published"},
        "page100": {"limit": 100},
    }
    change = f"UPDATE blog_post SET title = %s WHERE id = {newest}"
    for name, values in requests.items():
        require(title in json.dumps(ask(server, name, values), ensure_ascii=False), f"{name}: not the newest post")
        server.database.connection.execute(change.encode(), ["Changed"])
        try:
            require("Changed" in json.dumps(ask(server, name, values)), f"{name}: a stale answer after an UPDATE")
        finally:
            server.database.connection.execute(change.encode(), [title])


def size_of_answer(server: Server, workload: str) -> int:
    rng = random.Random(7)
    dialect, name, count = server.peer.dialect, operation(workload), 5
    bodies = [dialect.body(workload, variables(workload, rng, n), n, "check") for n in range(count)]
    size = sum(len(send(server, name, body)) for body in bodies) // count
    if name == "create":
        server.database.run(f"DELETE FROM blog_post WHERE id > {dataset.POSTS}")
    return size


def require(holds: bool, message: str) -> None:  # noqa: FBT001 - as `assert`
    if not holds:
        raise AssertionError(message)
