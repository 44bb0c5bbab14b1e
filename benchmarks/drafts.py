"""`python -m benchmarks.drafts`: measure how 60,000 drafts slow down each kind of page.

The drafts are newer than every published post. Each request goes through the complete WSGI application, in one process.
It is measured on three copies of the rows of `benchmarks.dataset`: without the drafts, with the drafts but without new
planner statistics, and with new statistics. Prints the CPU time of a request, in this process and in PostgreSQL. Exits
with 1 if drafts make a request take more than twice as long. Editors see the drafts, so their counts and searches by
tag take longer in any case; these are only printed. Runs on Linux, for about three minutes.
"""

import json
import math
import os
import sys
import time
import zlib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks import dataset
from benchmarks.database import EDITOR, Database, digest, load_ours, manage, our_environment
from benchmarks.places import ROOT
from contentapi.db.embedded.server import EmbeddedServer

DRAFTS = 60_000
MAX_RATIO = 2.0
ROUNDS = 3
SECONDS = 0.05  # of CPU, for each median
GROWS_FOR_EDITORS = ("totalCount", "offset", "tag")
AUTHOR, AUTHOR_ID = "author@example.test", 7
WRITE_DRAFTS = f"""
    INSERT INTO blog_post (title, body, status, author_id, created_at, updated_at, tags, version)
    SELECT 'Draft ' || n, repeat('Some words. ', 125), 'draft', 1 + n % {dataset.AUTHORS}, moment, moment,
        ARRAY[tags[1 + n % {len(dataset.TAGS)}], tags[1 + (n + 7) % {len(dataset.TAGS)}]], 1
    FROM generate_series(1, {DRAFTS}) n, LATERAL (SELECT timestamptz '2026-01-01' + n * interval '1 minute') t(moment),
        (SELECT ARRAY['{"', '".join(dataset.TAGS)}']) u(tags)
"""
DATABASES: dict[str, tuple[str, ...]] = {  # each one is a copy of the one before, changed by these statements
    "without_drafts": ("ALTER TABLE blog_post SET (autovacuum_enabled = off)", "VACUUM (ANALYZE)"),
    "before_analyze": (WRITE_DRAFTS,),
    "after_analyze": ("ANALYZE blog_post",),
}
POST = "id title createdAt tags author { name }"
NESTED = "{ posts(limit: 10) { title author { name posts { title comments(limit: 10) { body author { name } } } } } }"
CONNECTION = "edges { cursor node { id title } } pageInfo { hasNextPage hasPreviousPage endCursor }"
FILTERS = {
    "no filter": "",
    "status: published": "status: published",
    "status: draft": "status: draft",
    "tag": 'tag: "python"',
    "rare tag": 'tag: "none"',
    "author": f'author: "{AUTHOR_ID}"',
    "created range": 'createdFrom: "2023-06-01T00:00:00Z", createdBefore: "2023-08-01T00:00:00Z"',
    "tag, author, status": f'tag: "python", author: "{AUTHOR_ID}", status: published',
}
ORDERS = ("createdAtDesc", "createdAtAsc", "updatedAtDesc", "updatedAtAsc")
PATHS = (
    *("/posts", "/posts?offset=0", "/posts?offset=5000", "/posts?status=published", "/posts?status=published&offset=0"),
    *("/posts?tag=python", "/posts?tag=python&offset=0", f"/posts?author={AUTHOR_ID}", "/posts?status=draft"),
    *(f"/authors/{AUTHOR_ID}/posts", f"/authors/{AUTHOR_ID}/posts?offset=0", "/posts/1/comments"),
)


class Request(NamedTuple):
    """A request without its credential. `target` is the path with the query."""

    method: str
    target: str
    body: bytes = b""


class Client:
    """Sends the requests of one caller to the application in this process."""

    def __init__(self, application: Any, headers: Mapping[str, str]) -> None:
        self.application = application
        self.headers = headers

    def send(self, request: Request) -> bytes:
        path, _, query = request.target.partition("?")
        environ = {
            "REQUEST_METHOD": request.method, "PATH_INFO": path, "QUERY_STRING": query, "SERVER_NAME": "localhost",
            "SERVER_PORT": "8000", "HTTP_HOST": "localhost", "REMOTE_ADDR": "192.0.2.1", "wsgi.url_scheme": "http",
            "CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(len(request.body)),
            "wsgi.input": BytesIO(request.body), **self.headers,
        }  # fmt: skip
        statuses: list[str] = []
        content = b"".join(self.application(environ, lambda status, *_: statuses.append(status)))
        if statuses != ["200 OK"] or b'"errors"' in content:
            raise RuntimeError(f"{request}: {statuses}: {content[:600]!r}")
        return content

    def measure(self, request: Request) -> float:
        """Return the median CPU time of a request in milliseconds, after its statement is prepared."""
        times: list[float] = []
        for _ in range(3):
            self.send(request)
        while sum(times) < SECONDS or len(times) < 7:
            began = cpu_seconds()
            self.send(request)
            times.append(cpu_seconds() - began)
        return median(times) * 1000


def main() -> None:
    server = EmbeddedServer(ROOT / "var" / "drafts" / "postgres")
    databases = load(server.acquire())
    clients = make_clients(databases["without_drafts"])
    times: dict[tuple[str, str], dict[str, float]] = {}
    for caller, client in clients.items():
        for name, request in make_requests(client).items():
            times[caller, name] = measure(client, request, unchanged=caller == "anonymous")
        print(f"{caller}: measured", file=sys.stderr, flush=True)
    sys.exit(report(times))


def load(folder: str) -> dict[str, Database]:
    """Return the databases by name, and load them once. An author of the shared rows gets a user."""
    maintenance = Database(folder, "postgres")
    databases = {name: Database(folder, name) for name in DATABASES}
    version = f"{digest()} {zlib.crc32(repr(DATABASES).encode())}"
    [described] = maintenance.row(
        "SELECT (SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = 'after_analyze')"
    )
    if described != version:
        print("Loading the databases (once; about a minute)", file=sys.stderr, flush=True)
        template = "template1"
        for name, statements in DATABASES.items():
            maintenance.run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            maintenance.run(f"CREATE DATABASE {name} TEMPLATE {template}")
            if template == "template1":
                load_rows(databases[name])
            databases[name].run(*statements)
            databases[name].connection.close()
            template = name
        maintenance.run(f"COMMENT ON DATABASE after_analyze IS '{version}'")
    return databases


def load_rows(database: Database) -> None:
    load_ours(database)
    manage(database, "create_user", AUTHOR, "--name", "Author", "--role", "author")
    user = f"(SELECT id FROM users_user WHERE email = '{AUTHOR}')"
    database.run(f"UPDATE blog_author SET user_id = {user} WHERE id = {AUTHOR_ID}")


def measure(client: Client, request: Request, *, unchanged: bool) -> dict[str, float]:
    """Return the CPU time of a request in each database in milliseconds: the smallest median of some rounds.

    Raises `RuntimeError` if `unchanged` and the responses of the databases differ.
    """
    times: dict[str, float] = {}
    responses: set[bytes] = set()
    for _ in range(ROUNDS):
        for name in DATABASES:
            connect_to(name)
            responses.add(client.send(request))
            times[name] = min(client.measure(request), times.get(name, math.inf))
    if unchanged and len(responses) > 1:
        raise RuntimeError(f"Drafts change the response to an anonymous {request}")
    return times


def make_clients(database: Database) -> dict[str, Client]:
    """Return a client for each kind of caller. An access token is valid in every copy of the database."""
    rates = {f"CONTENTAPI_RATE_{name}": "999999999/minute" for name in ("ANONYMOUS", "AUTHENTICATED")}
    os.environ.update(our_environment(database) | rates)
    from contentapi.wsgi import application  # reads the environment

    tokens = {
        caller: manage(database, "issue_token", email, "--ttl", "86400").split()[-1]
        for caller, email in {"author": AUTHOR, "editor": EDITOR}.items()
    }
    headers = {caller: {"HTTP_AUTHORIZATION": f"Bearer {token}"} for caller, token in tokens.items()}
    return {caller: Client(application, headers.get(caller, {})) for caller in ("anonymous", *tokens)}


def cpu_seconds() -> float:
    """Return the CPU time so far of this process and of its PostgreSQL backend."""
    from django.db import connection

    backend = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat").read_text()
    return time.process_time() + int(backend.split()[0]) / 1e9


def connect_to(name: str) -> None:
    """Connect the application to this database. On a new connection, PostgreSQL plans every statement again."""
    from django.db import connection

    connection.close()
    connection.settings_dict["NAME"] = name


def make_requests(client: Client) -> dict[str, Request]:
    """Return each kind of page by its name. Pages after a cursor begin after the first hundred posts."""
    documents = {
        "posts(limit: 10)": f"{{ posts(limit: 10) {{ {POST} }} }}",
        "posts(status: draft)": f"{{ posts(status: draft) {{ {POST} }} }}",
        "nested": NESTED,
        "Author.posts": f"{{ author(id: {AUTHOR_ID}) {{ name posts {{ {POST} }} }} }}",
        "Author.posts(status: draft)": f"{{ author(id: {AUTHOR_ID}) {{ posts(status: draft) {{ {POST} }} }} }}",
        **{f"connection: {name}": connection_query(filter_) for name, filter_ in FILTERS.items()},
        **{f"connection: {order}": connection_query("", f"orderBy: {order}") for order in ORDERS},
        "connection: author, updatedAtDesc": connection_query(FILTERS["author"], "orderBy: updatedAtDesc"),
        "connection: created range, updatedAtAsc": connection_query(FILTERS["created range"], "orderBy: updatedAtAsc"),
        "connection: last": connection_query("", "last: 10"),
        **{
            f"totalCount: {name}": connection_query(filter_, selection="totalCount")
            for name, filter_ in FILTERS.items()
        },
    }
    requests = {name: graphql_request(document) for name, document in documents.items()}
    requests |= {f"GET {path}": Request("GET", path) for path in PATHS}
    hundred = json.loads(client.send(graphql_request(connection_query("", "first: 100"))))["data"]["postsConnection"]
    requests["connection: after"] = graphql_request(
        connection_query("", f'after: "{hundred["pageInfo"]["endCursor"]}"')
    )
    cursor = json.loads(client.send(Request("GET", "/posts?limit=100")))["next_cursor"]
    requests["GET /posts?cursor=..."] = Request("GET", f"/posts?cursor={cursor}")
    return requests


def connection_query(filter_: str, window: str = "", selection: str = CONNECTION) -> str:
    return f"{{ postsConnection(filter: {{{filter_}}} {window}) {{ {selection} }} }}"


def graphql_request(document: str) -> Request:
    return Request("POST", "/graphql", json.dumps({"query": document}).encode())


def report(times: Mapping[tuple[str, str], Mapping[str, float]]) -> int:
    """Print the table and return the exit status."""
    print("| Caller | Request | without drafts: ms | before ANALYZE: ms | ratio | after ANALYZE: ms | ratio |")
    print("|---|---|--:|--:|--:|--:|--:|")
    ratios: dict[tuple[str, str], float] = {}
    for key, (without, before, after) in ((key, found.values()) for key, found in times.items()):
        columns = [without, before, before / without, after, after / without]
        print(f"| {' | '.join(key)} | {' | '.join(f'{column:.2f}' for column in columns)} |")
        if not is_expected_to_grow(*key):
            ratios[key] = max(before, after) / without
    slow = [f"{caller}: {name}" for (caller, name), ratio in ratios.items() if ratio > MAX_RATIO]
    print(f"\nThe largest ratio is {max(ratios.values()):.2f}; at most {MAX_RATIO} is allowed.")
    print("".join(f"TOO SLOW: {line}\n" for line in slow), end="")
    return 1 if slow else 0


def is_expected_to_grow(caller: str, name: str) -> bool:
    return caller == "editor" and any(word in name for word in GROWS_FOR_EDITORS)


if __name__ == "__main__":
    main()
