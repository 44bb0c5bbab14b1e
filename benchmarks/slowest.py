"""`python -m benchmarks.slowest`: search for the slowest document that the limits allow, on 100,000 posts.

Documents grow from the schema by chance; those that take longest are changed at random, and what takes longer still is
kept. PostgreSQL and its rows lie in var/slowest, which may be removed at any time. Times of a busy machine say little:
beside them stands the CPU time of this process and of PostgreSQL's.
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
from benchmarks.slowest_documents import Grower, Selection, written
from contentapi.db.embedded.server import EmbeddedServer

WORK = ROOT / "var" / "slowest"
POSTS, AUTHORS, COMMENTS = 100_000, 1_000, 500_000
ROLES = ("author", "editor")  # besides the anonymous; this author has written a hundred posts
KEPT = 12  # of the slowest so far, from which the search goes on
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


class Found(NamedTuple):
    """A document and what it took, in seconds: by the clock, and of CPU here and in PostgreSQL."""

    total: float
    clock: float
    ours: float
    postgres: float
    status: int
    size: int
    asker: str
    roots: list[Selection]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.slowest", description=__doc__)
    parser.add_argument("--seconds", type=int, default=300, help="how long to search; default: 300")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    server = EmbeddedServer(WORK / "postgres")
    database = loaded(server.acquire())
    keys = {"anonymous": "", **{role: make_api_key(database, role) for role in ROLES}}
    rates = {f"CONTENTAPI_RATE_{name}": "999999999/minute" for name in ("ANONYMOUS", "AUTHENTICATED")}
    os.environ.update(our_environment(database) | rates)
    report(search(Endpoint(keys), random.Random(options.seed), options.seconds))


def loaded(folder: str) -> Database:
    """Return the database, its rows put in once."""
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
    """The server's own application, in this process."""

    def __init__(self, keys: dict[str, str]) -> None:
        from contentapi.wsgi import application  # reads the environment

        self.application: Any = application
        self.keys = keys
        self.ask("{ posts(limit: 1) { id } }", asker="anonymous")
        from django.db import connection

        self.backend = psutil.Process(connection.connection.info.backend_pid)

    def ask(self, document: str, *, asker: str) -> tuple[int, int]:
        """Return the status and the size of the answer. Each text is a new one, as an attacker's would be."""
        body = json.dumps({"query": f"{document} #{random.random()}"}).encode()
        environ = {
            "REQUEST_METHOD": "POST", "PATH_INFO": "/graphql", "HTTP_HOST": "localhost", "REMOTE_ADDR": "192.0.2.1",
            "CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(len(body)), "wsgi.input": BytesIO(body),
        }  # fmt: skip
        if self.keys[asker]:
            environ["HTTP_X_API_KEY"] = self.keys[asker]
        told: list[str] = []
        answer = self.application(environ, lambda status, *_: told.append(status))
        return int(told[0].split()[0]), sum(map(len, answer))

    def measure(self, roots: list[Selection], *, asker: str) -> Found:
        spent, before, began = time.process_time(), sum(self.backend.cpu_times()[:2]), time.perf_counter()
        status, size = self.ask(written(roots), asker=asker)
        clock = time.perf_counter() - began
        ours, postgres = time.process_time() - spent, sum(self.backend.cpu_times()[:2]) - before
        return Found(ours + postgres, clock, ours, postgres, status, size, asker, roots)


def search(endpoint: Endpoint, rng: random.Random, seconds: int) -> list[Found]:
    """Return the slowest documents, the slowest first."""
    grower = Grower(rng, POSTS)
    best = [endpoint.measure(roots, asker=asker) for roots in grower.first() for asker in endpoint.keys]
    tried, ending = 0, time.monotonic() + seconds
    while time.monotonic() < ending:
        parent = rng.choice(best)
        roots = grower.fresh() if rng.random() < 0.2 else grower.changed(parent.roots)
        if roots is None:
            continue
        found = endpoint.measure(roots, asker=rng.choice(list(endpoint.keys)))
        tried += 1
        best = sorted([*best, found], key=lambda it: -it.total)[:KEPT]
        if best[0] is found:
            print(f"{tried:6} {line(found)}", flush=True)
    print(f"{tried} documents")
    return [
        max((endpoint.measure(it.roots, asker=it.asker) for _ in range(3)), key=lambda it: it.total) for it in best[:3]
    ]


def line(found: Found) -> str:
    return (
        f"{found.total:.2f} s of CPU (here {found.ours:.2f}, PostgreSQL {found.postgres:.2f}), "
        f"{found.clock:.2f} s by the clock, status {found.status}, {found.size:,} bytes, {found.asker}"
    )


def report(slowest: list[Found]) -> None:
    for found in slowest:
        print(f"\n{line(found)}\n{written(found.roots)}")


if __name__ == "__main__":
    main()
