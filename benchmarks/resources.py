"""`python -m benchmarks.resources`: compare the cost of a REST resource with the same fields over GraphQL.

Each request goes through the complete WSGI application, in one process. Prints the CPU time of a request in this
process and in PostgreSQL, and the ratio of the totals: medians over the rounds.
"""

import json
import os
import time
from collections.abc import Callable
from statistics import median
from typing import NamedTuple

import psutil

from benchmarks.inside import send
from benchmarks.places import ROOT, WORK

os.environ["CONTENTAPI_VAR"] = str(WORK / "resources")
os.environ["CONTENTAPI_RATE_ANONYMOUS"] = "999999999/minute"

from contentapi.wsgi import application

from django.core.management import call_command  # isort: skip
from django.db import connection

from blog.models import Post

ROUNDS = 15
REQUESTS = 1000  # of each transport in a round
POSTS = 50
FRAGMENT = (ROOT / "schema" / "resources" / "post.graphql").read_text()


class Cost(NamedTuple):
    """CPU seconds of one round, in this process and in PostgreSQL."""

    process: float
    postgresql: float


def main() -> None:
    call_command("migrate", verbosity=0)
    call_command("load_demo")
    create_posts()
    newest = Post.objects.filter(status="published").latest("created_at").pk
    pairs = {
        "a page of 10 posts": (get("/posts"), post("{ posts { ...PostResource } }")),
        "the same under /v1": (get("/v1/posts"), post("{ posts { ...PostResource } }")),
        "one post": (get(f"/posts/{newest}"), post(f"{{ post(id: {newest}) {{ ...PostResource }} }}")),
    }
    print("| Request | REST: CPU ms | of PostgreSQL | GraphQL: CPU ms | of PostgreSQL | REST to GraphQL |")
    print("|---|--:|--:|--:|--:|--:|")
    for words, (rest, graphql) in pairs.items():
        measure(rest), measure(graphql)  # warm up
        rounds = [(measure(rest), measure(graphql)) for _ in range(ROUNDS)]
        transports = zip(*rounds, strict=True)
        figures = [
            median(costs) * 1000 / REQUESTS for transport in transports for costs in zip(*transport, strict=True)
        ]
        ratio = median(sum(one) / sum(other) for one, other in rounds)
        print(f"| {words} | {' | '.join(f'{figure:.3f}' for figure in figures)} | {ratio:.2f} |")


def create_posts() -> None:
    """Create published posts until a page has a next page."""
    author = Post.objects.earliest("pk").author
    missing = POSTS - Post.objects.filter(status="published").count()
    Post.objects.bulk_create(
        Post(title=f"Number {number}", body="Some words. " * 40, status="published", author=author, tags=["a", "b"])
        for number in range(missing)
    )


def measure(send_request: Callable[[], None]) -> Cost:
    """Return the cost of one round of requests."""
    backend = psutil.Process(connection.connection.info.backend_pid)
    postgresql, process = sum(backend.cpu_times()[:2]), time.process_time()
    for _ in range(REQUESTS):
        send_request()
    return Cost(time.process_time() - process, sum(backend.cpu_times()[:2]) - postgresql)


def get(path: str) -> Callable[[], None]:
    return lambda: send(application, b"", {"REQUEST_METHOD": "GET", "PATH_INFO": path})


def post(query: str) -> Callable[[], None]:
    body = json.dumps({"query": query + FRAGMENT}).encode()
    return lambda: send(application, body, {})


if __name__ == "__main__":
    main()
