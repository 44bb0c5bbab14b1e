"""`python -m benchmarks.slowest`: search for the slowest document that the limits allow, on 100,000 posts.

Documents are generated from the schema at random. The slowest are mutated, and slower mutants replace them. PostgreSQL
and its rows are in var/slowest, which can be deleted at any time. Elapsed times mean little on a busy machine, so the
CPU time of this process and of PostgreSQL is printed too.
"""

import argparse
import json
import os
import random
import time
import zlib
from io import BytesIO
from typing import Any, NamedTuple

import psutil

from benchmarks.database import Database, manage, our_environment
from benchmarks.places import ROOT
from benchmarks.slowest_documents import Generator, Selection, format_document
from contentapi.db.embedded.server import EmbeddedServer

WORK = ROOT / "var" / "slowest"
POSTS, AUTHORS, COMMENTS = 100_000, 1_000, 500_000
ROLES = ("author", "editor")  # besides anonymous callers; this author has a hundred posts
KEPT = 12  # the slowest documents so far, from which the search continues
ROWS = f"""
    INSERT INTO blog_author (id, name, bio, avatar_url, email, created_at)
    SELECT n, 'Author ' || n, repeat('Bio. ', 40), 'https://cdn.example.test/' || n, n || '@example.test', now()
    FROM generate_series(1, {AUTHORS}) n;
    UPDATE blog_author SET user_id = (SELECT id FROM users_user WHERE role = 'author') WHERE id = 1000;
    INSERT INTO blog_post (id, title, body, status, author_id, created_at, updated_at, tags, version)
    SELECT n, 'Title ' || n, repeat(md5(n::text) || ' ', 45),
        (ARRAY['published', 'published', 'draft', 'archived'])[1 + n % 4],
        CASE WHEN n % 5 = 0 THEN 1 ELSE 1 + n % {AUTHORS} END, now() - n * interval '7 minutes', now(),
        ARRAY['tag' || n % 7, 'tag' || 7 + n % 11], 1
    FROM generate_series(1, {POSTS}) n;
    INSERT INTO blog_comment (id, body, author_id, post_id, created_at)
    SELECT n, repeat('Well said. ', 10), 1 + n % {AUTHORS},
        CASE WHEN n % 5 = 0 THEN 1 + n % 100 ELSE 1 + n::bigint * 7919 % {POSTS} END, now() - n * interval '1 minute'
    FROM generate_series(1, {COMMENTS}) n
"""  # a fifth of the posts are one author's; the newest hundred posts have a thousand comments each


class Measurement(NamedTuple):
    """A measured document. Times are in seconds: elapsed, and CPU time of this process and of PostgreSQL."""

    total: float
    elapsed: float
    own: float
    postgres: float
    status: int
    size: int
    caller: str
    roots: list[Selection]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.slowest", description=__doc__)
    parser.add_argument("--seconds", type=int, default=300, help="how long to search; default: 300")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    server = EmbeddedServer(WORK / "postgres")
    database = load_database(server.acquire())
    keys = {"anonymous": "", **{role: make_api_key(database, role) for role in ROLES}}
    rates = {f"CONTENTAPI_RATE_{name}": "999999999/minute" for name in ("ANONYMOUS", "AUTHENTICATED")}
    os.environ.update(our_environment(database) | rates)
    report(search(Endpoint(keys), random.Random(options.seed), options.seconds))


def load_database(folder: str) -> Database:
    """Return the database, and load its rows if they are missing or outdated."""
    maintenance, database = Database(folder, "postgres"), Database(folder, "slowest")
    described = maintenance.row(
        "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = 'slowest'"
    )
    version = str(zlib.crc32(ROWS.encode()))
    if described != (version,):
        print("Loading the database (once; about a minute)", flush=True)
        maintenance.run("DROP DATABASE IF EXISTS slowest WITH (FORCE)", "CREATE DATABASE slowest")
        manage(database, "migrate", "--verbosity", "0")
        for role in ROLES:
            manage(database, "create_user", f"{role}@example.test", "--name", role, "--role", role)
        database.run(*ROWS.split(";"), "VACUUM (ANALYZE)", f"COMMENT ON DATABASE slowest IS '{version}'")
    manage(database, "migrate", "--verbosity", "0")
    return database


def make_api_key(database: Database, role: str) -> str:
    return manage(database, "create_api_key", f"{role}@example.test", "--name", "slowest").split()[-1]


class Endpoint:
    """The WSGI application in this process."""

    def __init__(self, keys: dict[str, str]) -> None:
        from contentapi.wsgi import application  # reads the environment

        self.application: Any = application
        self.keys = keys
        self.send("{ posts(limit: 1) { id } }", caller="anonymous")
        from django.db import connection

        self.backend = psutil.Process(connection.connection.info.backend_pid)

    def send(self, document: str, *, caller: str) -> tuple[int, int]:
        """Return the status and the size of the response. Each text is new to the server, as an attacker's would be."""
        body = json.dumps({"query": f"{document} #{random.random()}"}).encode()
        environ = {
            "REQUEST_METHOD": "POST", "PATH_INFO": "/graphql", "HTTP_HOST": "localhost", "REMOTE_ADDR": "192.0.2.1",
            "CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(len(body)), "wsgi.input": BytesIO(body),
        }  # fmt: skip
        if self.keys[caller]:
            environ["HTTP_X_API_KEY"] = self.keys[caller]
        statuses: list[str] = []
        response = self.application(environ, lambda status, *_: statuses.append(status))
        return int(statuses[0].split()[0]), sum(map(len, response))

    def measure(self, roots: list[Selection], *, caller: str) -> Measurement:
        spent, before, began = time.process_time(), sum(self.backend.cpu_times()[:2]), time.perf_counter()
        status, size = self.send(format_document(roots), caller=caller)
        elapsed = time.perf_counter() - began
        own, postgres = time.process_time() - spent, sum(self.backend.cpu_times()[:2]) - before
        return Measurement(own + postgres, elapsed, own, postgres, status, size, caller, roots)


def search(endpoint: Endpoint, rng: random.Random, seconds: int) -> list[Measurement]:
    """Return the three slowest documents, the slowest first."""
    generator = Generator(rng, POSTS)
    best = [
        endpoint.measure(roots, caller=caller) for roots in generator.initial_documents() for caller in endpoint.keys
    ]
    tried, deadline = 0, time.monotonic() + seconds
    while time.monotonic() < deadline:
        parent = rng.choice(best)
        roots = generator.generate() if rng.random() < 0.2 else generator.mutate(parent.roots)
        if roots is None:
            continue
        found = endpoint.measure(roots, caller=rng.choice(list(endpoint.keys)))
        tried += 1
        best = sorted([*best, found], key=lambda it: -it.total)[:KEPT]
        if best[0] is found:
            print(f"{tried:6} {format_line(found)}", flush=True)
    print(f"{tried} documents")
    return [
        max((endpoint.measure(it.roots, caller=it.caller) for _ in range(3)), key=lambda it: it.total)
        for it in best[:3]
    ]


def format_line(found: Measurement) -> str:
    return (
        f"{found.total:.2f} s of CPU (this process {found.own:.2f}, PostgreSQL {found.postgres:.2f}), "
        f"{found.elapsed:.2f} s elapsed, status {found.status}, {found.size:,} bytes, {found.caller}"
    )


def report(slowest: list[Measurement]) -> None:
    for found in slowest:
        print(f"\n{format_line(found)}\n{format_document(found.roots)}")


if __name__ == "__main__":
    main()
