"""Measures the resident memory of a worker over many different requests."""

import http.client
import json
import random
from concurrent.futures import ThreadPoolExecutor

from benchmarks.conditions import VARIED, headers_for
from benchmarks.dataset import AUTHORS, POSTS
from benchmarks.processes import resident_megabytes
from benchmarks.servers import Server

REQUESTS, STEP, THREADS = 100_000, 10_000, 8
POST = ("id", "title", "body", "status", "commentCount", "createdAt", "updatedAt", "tags", "version", "publishAt")
AUTHOR = ("id", "name", "bio", "avatarUrl")
COMMENT = ("id", "body", "createdAt", "author { name }")


def table(servers: list[Server]) -> str:
    """Return the resident memory of servers in megabytes, before, after every 10,000 requests, and at the end."""
    lines = [
        f"| resident MB | before | {' | '.join(f'{n:,}' for n in range(STEP, REQUESTS + 1, STEP))} |",
        f"|---|{'--:|' * (1 + REQUESTS // STEP)}",
    ]
    for server in servers:
        sizes = [resident_megabytes(server.pid)]
        for start in range(0, REQUESTS, STEP):
            with ThreadPoolExecutor(THREADS) as pool:
                share = STEP // THREADS
                jobs = [pool.submit(send, server.port, start + t * share, share) for t in range(THREADS)]
                failed = sum(job.result() for job in jobs)
            sizes.append(resident_megabytes(server.pid))
            print(f"{server.name}: {start + STEP:,} requests, {sizes[-1]:.1f} MB, {failed} failed", flush=True)
        lines.append(f"| {server.name} | {' | '.join(f'{size:.1f}' for size in sizes)} |")
    return "\n".join(lines) + "\n"


def send(port: int, first: int, count: int) -> int:
    """Send requests over one connection. Return the number of responses without status 200."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    failed = 0
    for number in range(first, first + count):
        traceparent = {"traceparent": f"00-{number + 1:032x}-{number + 1:016x}-01"}
        connection.request("POST", "/graphql", body(number).encode(), headers_for(VARIED) | traceparent)
        response = connection.getresponse()
        response.read()
        failed += response.status != 200
    connection.close()
    return failed


def body(number: int) -> str:
    """Return a request with its own fields, alias, ids and limits, in the query text or as variables."""
    rng = random.Random(number)
    selection = f"a{number}: id {' '.join(some(rng, POST))} author {{ {' '.join(some(rng, AUTHOR))} }}"
    if rng.random() < 0.7:
        selection += f" comments(limit: {rng.randint(1, 100)}) {{ {' '.join(some(rng, COMMENT))} }}"
    limit = rng.randint(1, 100 if rng.random() < 0.05 else 10)
    text, variables = rng.choice(
        [
            (f"query($id: ID!) {{ post(id: $id) {{ {selection} }} }}", {"id": rng.randint(1, POSTS)}),
            (f"{{ post(id: {rng.randint(1, POSTS)}) {{ {selection} }} }}", {}),
            (f"query($n: Int) {{ posts(limit: $n, status: published) {{ {selection} }} }}", {"n": limit}),
            (f"{{ author(id: {rng.randint(1, AUTHORS)}) {{ posts(limit: {limit}) {{ {selection} }} }} }}", {}),
        ]
    )
    return json.dumps({"query": text, "variables": variables})


def some(rng: random.Random, names: tuple[str, ...]) -> list[str]:
    return rng.sample(names, rng.randint(1, len(names)))
