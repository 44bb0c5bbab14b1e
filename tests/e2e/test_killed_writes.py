"""Writes with a key, each sent five times at once while workers are killed: one effect, equal responses."""

import json
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from typing import Any, NamedTuple

import pytest

from tests.deployment.live_server import LiveServer, Site
from tests.deployment.processes import wait_until
from tests.e2e.load import PATIENCE
from tests.thoroughness import scale_examples

pytestmark = pytest.mark.servers

COPIES = 5  # of each request, at once
CLIENTS = 40
UNLIMITED = "999999999/minute"
LIMITS = {"CONTENTAPI_RATE_WRITES": UNLIMITED, "CONTENTAPI_RATE_AUTHENTICATED": UNLIMITED, "WEB_CONCURRENCY": "2"}
ROUNDS, OPERATIONS = max(5, scale_examples(25)), max(20, scale_examples(40))  # a worker is killed in each round


class Write(NamedTuple):
    """A request, and the statement that counts its effect, which must be 1."""

    method: str
    path: str
    body: Any
    effect: str
    parameters: tuple[Any, ...]


class Answer(NamedTuple):
    status: int
    body: bytes


def send_once(server: LiveServer, write: Write, key: str | None) -> Answer | None:
    """Send a request. Return None if there is no response, or one that asks for another attempt."""
    headers = {"Content-Type": "application/json", "X-API-Key": server.site.key}
    if key:
        headers["Idempotency-Key"] = key
    connection = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    try:
        content = None if write.body is None else json.dumps(write.body)
        connection.request(write.method, write.path, content, headers)
        response = connection.getresponse()
        body = response.read()
    except (OSError, HTTPException):
        return None
    finally:
        connection.close()
    is_running = response.status == 409 and response.headers["Retry-After"] == "1"
    return None if is_running or response.status == 503 else Answer(response.status, body)


def send(server: LiveServer, write: Write, key: str) -> Answer:
    """Send a request until it has its response."""
    deadline = time.monotonic() + 2 * PATIENCE
    while True:
        answer = send_once(server, write, key)
        if answer is not None:
            return answer
        assert time.monotonic() < deadline, server.printed[-3000:]
        time.sleep(0.05)


def create_posts(server: LiveServer, number: int) -> list[str]:
    """Return the ids of new posts."""
    write = Write("POST", "/posts", {"title": "Old", "body": "b"}, "", ())
    answers = [send_once(server, write, None) for _ in range(number)]
    return [json.loads(answer.body)["id"] for answer in answers if answer is not None]


def build_writes(ids: Iterator[str], first: int, number: int) -> Iterator[Write]:
    """Yield writes of all kinds on both transports."""
    titled = "SELECT count(*) FROM blog_post WHERE title = %s"
    for each in range(first, first + number):
        title = f"Once {each}"
        create = f'createPost(input: {{title: "{title}", body: "b"}}) {{ id title createdAt }}'
        kind = each % 6
        if kind == 0:
            yield Write("POST", "/posts", {"title": title, "body": "b"}, titled, (title,))
        elif kind == 1:
            post = next(ids)
            changed = "SELECT version - 1 FROM blog_post WHERE id = %s AND title = %s"
            yield Write("PATCH", f"/posts/{post}", {"title": title}, changed, (post, title))
        elif kind == 2:
            post = next(ids)
            deleted = "SELECT count(*) FROM blog_postversion WHERE id = %s AND pgh_label = 'delete'"
            yield Write("DELETE", f"/posts/{post}", None, deleted, (post,))
        elif kind == 3:
            yield Write("POST", "/graphql", {"query": f"mutation {{ {create} }}"}, titled, (title,))
        elif kind == 4:
            query = f"mutation {{ {create} missing: archivePost(id: 0) {{ id }} }}"
            yield Write("POST", "/graphql", {"query": query}, titled, (title,))
        else:
            comment = f'addComment(input: {{postId: {next(ids)}, body: "{title}"}}) {{ id createdAt }}'
            both = f"SELECT ({titled}) * (SELECT count(*) FROM blog_comment WHERE body = %s)"  # noqa: S608
            query = f"mutation @atomic {{ {create} {comment} }}"
            yield Write("POST", "/graphql", {"query": query}, both, (title, title))


@pytest.mark.property
def test_each_write_has_one_effect_and_one_response(site: Site) -> None:
    with site.serve("granian", **LIMITS) as server, ThreadPoolExecutor(CLIENTS) as pool:
        ids = iter(create_posts(server, ROUNDS * OPERATIONS))
        for number in range(ROUNDS):
            wait_until(server.has_all_workers, "the start of all workers")
            writes = list(build_writes(ids, number * OPERATIONS, OPERATIONS))
            sent = [[pool.submit(send, server, write, f"{number}-{at}") for _ in range(COPIES)]
                    for at, write in enumerate(writes)]  # fmt: skip
            kill_workers(sent, server.workers[: 1 + number % 2])
            for write, copies in zip(writes, sent, strict=True):
                answers = {copy.result() for copy in copies}
                assert len(answers) == 1, answers
                assert answers.pop().status in (200, 201, 204, 294), write
                assert count_effect(site, write) == 1, write


def kill_workers(sent: list[list[Future[Answer]]], workers: list[int]) -> None:
    """Kill workers as soon as the first response is here."""
    wait([copy for copies in sent for copy in copies], return_when=FIRST_COMPLETED)
    for worker in workers:
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)


def count_effect(site: Site, write: Write) -> int:
    with site.connect() as connection:
        row = connection.execute(write.effect, write.parameters).fetchone()
        return int(row[0]) if row else 0
