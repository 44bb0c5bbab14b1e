"""Clients of the API in the drill of events. Each notes in a ledger what was acknowledged."""

import json
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any, NamedTuple
from uuid import uuid4

from benchmarks.drill.ledger import Effect, Ledger, make_text
from benchmarks.drill.load import Client, Response
from benchmarks.drill.stack import Stack

PAUSE = 0.05  # seconds between two writes of a client, on average
PATIENCE = 60.0  # seconds for a pending write after the end
EDITS = 4  # of a post
SUCCESSES = (200, 201, 204)
UNAVAILABLE = (0, 502, 503)
PATIENT, REPEATED = 0.8, 0.2  # shares of writes that are sent until they are acknowledged, and of those sent again
BODY = "Words of a drill."
DELAY = timedelta(seconds=8)  # until a scheduled post is due


class Post(NamedTuple):
    """A post as its writer knows it."""

    id: int
    version: int


class Place(NamedTuple):
    """What a writer has."""

    stack: Stack
    ledger: Ledger
    stopping: Event
    rng: random.Random

    def pause(self, factor: float = 1.0) -> None:
        self.stopping.wait(self.rng.uniform(0, 2 * PAUSE * factor))


class Api(ABC):
    """A client of the API, which repeats most writes with their idempotency key until they are acknowledged."""

    channel: str
    patience = PATIENT
    refusals: Collection[int] = ()

    def __init__(self, place: Place) -> None:
        self.place, self.ledger, self.rng = place, place.ledger, place.rng
        self.client = Client(place.stack.port, place.stack.key)

    def send(self, method: str, path: str, body: object = None) -> Response | None:
        """Send a write. Return the response of a success. Notes a write without one."""
        key, is_patient, deadline = str(uuid4()), self.rng.random() < self.patience, None
        while (reply := self.client.send(method, path, body, key)).status not in SUCCESSES:
            if not is_repeatable(reply) and reply.status not in self.refusals:
                self.ledger.complain(f"{method} {path} {body}: status {reply.status} {reply.note}")
                return None
            if self.place.stopping.is_set():
                deadline = deadline or time.monotonic() + PATIENCE
            if not is_patient or (deadline and time.monotonic() > deadline):
                self.ledger.lose(self.channel)
                return None
            time.sleep(float(reply.retry_after or 0.3))
        if self.rng.random() < REPEATED:  # as if the response had been lost
            again = self.client.send(method, path, body, key)
            if again.status in SUCCESSES and again.body != reply.body:
                self.ledger.complain(f"{method} {path} {body}: two responses, {reply.body!r} and {again.body!r}")
        return reply

    def write(self) -> None:
        """Create a post, change it, publish it, comment on it, and delete some of it."""
        text = make_text()
        post = self.create(text)
        if post is None:
            return
        self.ledger.acknowledge(self.channel, Effect("post.created", *post), text=text)
        for _ in range(self.rng.randint(1, EDITS)):
            self.place.pause()
            post = self.note("post.updated", self.change(post, text := make_text()), text)
            if post is None:
                return
        post = self.note("post.published", self.publish(post))
        if post is None:
            return
        comment = self.comment(post, text := make_text())
        if comment:
            self.ledger.acknowledge(self.channel, Effect("comment.created", comment), text=text)
            if self.rng.random() < 0.3 and self.delete_comment(post, comment):
                self.ledger.acknowledge(self.channel, Effect("comment.deleted", comment))
        if self.rng.random() < 0.2 and self.delete(post):
            self.ledger.acknowledge(self.channel, Effect("post.deleted", post.id))

    def note(self, kind: str, post: Post | None, text: str = "") -> Post | None:
        if post:
            self.ledger.acknowledge(self.channel, Effect(kind, *post), text=text)
        return post

    @abstractmethod
    def create(self, text: str, **content: str) -> Post | None:
        """Create a post with the text."""

    @abstractmethod
    def change(self, post: Post, text: str) -> Post | None:
        """Change a post so that it has the text."""

    @abstractmethod
    def publish(self, post: Post) -> Post | None:
        """Publish a post."""

    @abstractmethod
    def delete(self, post: Post) -> bool:
        """Delete a post. Return whether it was acknowledged."""

    @abstractmethod
    def comment(self, post: Post, text: str) -> int | None:
        """Write a comment. Return its id."""

    @abstractmethod
    def delete_comment(self, post: Post, comment: int) -> bool:
        """Delete a comment. Return whether it was acknowledged."""


def is_repeatable(reply: Response) -> bool:
    """Return whether a write without success may have succeeded, or succeeds if it is repeated.

    409 with Retry-After means that the first request with the key still runs.
    """
    return reply.status in UNAVAILABLE or (reply.status == 409 and reply.retry_after is not None)


class Rest(Api):
    channel = "REST"

    def create(self, text: str, **content: str) -> Post | None:
        return read_post(self.send("POST", "/posts", {"title": text, "body": BODY, **content}))

    def change(self, post: Post, text: str) -> Post | None:
        return read_post(self.send("PATCH", f"/posts/{post.id}", {"title": text}))

    def publish(self, post: Post) -> Post | None:
        return read_post(self.send("POST", f"/posts/{post.id}/publish"))

    def delete(self, post: Post) -> bool:
        return self.send("DELETE", f"/posts/{post.id}") is not None

    def comment(self, post: Post, text: str) -> int | None:
        reply = self.send("POST", f"/posts/{post.id}/comments", {"body": text})
        return int(json.loads(reply.body)["id"]) if reply else None

    def delete_comment(self, post: Post, comment: int) -> bool:
        return self.send("DELETE", f"/posts/{post.id}/comments/{comment}") is not None


def read_post(reply: Response | None) -> Post | None:
    """Return the post of a response of REST, whose entity tag begins with the version."""
    return Post(int(json.loads(reply.body)["id"]), int(reply.etag.strip('"').split("-")[0])) if reply else None


class Graphql(Api):
    channel = "GraphQL"

    def execute(self, field: str, values: Any, kind: str, selection: str) -> Any:
        """Execute a mutation of one field. Return its value; None without a success."""
        document = f"mutation ($input: {kind}!) {{ {field} {selection} }}"
        reply = self.send("POST", "/graphql", {"query": document, "variables": {"input": values}})
        if reply is None:
            return None
        response = json.loads(reply.body)
        if "errors" in response:
            self.ledger.complain(f"{field}: {response}")
            return None
        (value,) = response["data"].values()
        return value

    def execute_on_post(self, field: str, values: Any, kind: str) -> Post | None:
        found = self.execute(field, values, kind, "{ id version }")
        return Post(int(found["id"]), int(found["version"])) if found else None

    def write(self) -> None:
        super().write()
        self.roll_back()

    def roll_back(self) -> None:
        """Create a post in an atomic operation whose second mutation fails."""
        self.ledger.abandon(text := make_text())
        first = f'createPost(input: {{title: "{text}", body: "{BODY}", status: published}}) {{ id }}'
        query = f"mutation @atomic {{ {first} archivePost(id: 0) {{ id }} }}"
        reply = self.client.send("POST", "/graphql", {"query": query}, str(uuid4()))
        if reply.status == 200 and "errors" not in json.loads(reply.body):
            self.ledger.complain(f"{query}: {reply.body!r}")

    def create(self, text: str, **content: str) -> Post | None:
        return self.execute_on_post(
            "createPost(input: $input)", {"title": text, "body": BODY, **content}, "CreatePostInput"
        )

    def change(self, post: Post, text: str) -> Post | None:
        return self.execute_on_post("updatePost(input: $input)", {"id": post.id, "title": text}, "UpdatePostInput")

    def publish(self, post: Post) -> Post | None:
        return self.execute_on_post("publishPost(id: $input)", post.id, "ID")

    def delete(self, post: Post) -> bool:
        return self.execute("deletePost(id: $input)", post.id, "ID", "") is not None

    def comment(self, post: Post, text: str) -> int | None:
        values = {"postId": post.id, "body": text}
        comment = self.execute("addComment(input: $input)", values, "AddCommentInput", "{ id }")
        return int(comment["id"]) if comment else None

    def delete_comment(self, post: Post, comment: int) -> bool:  # noqa: ARG002 - REST needs the post
        return self.execute("deleteComment(id: $input)", comment, "ID", "") is not None


class Scheduler(Rest):
    """Schedules posts, which the worker publishes. It does not repeat a write, whose time might have passed then."""

    channel = "worker"
    patience = 0.0
    refusals = (422,)  # the request was processed late

    def write(self) -> None:
        at = (datetime.now(UTC) + DELAY).isoformat()
        post = self.create(text := make_text(), status="scheduled", publishAt=at)
        if post:
            effects = Effect("post.created", *post), Effect("post.published", post.id, post.version + 1)
            self.ledger.acknowledge(self.channel, *effects, text=text)
        self.place.pause(4)
