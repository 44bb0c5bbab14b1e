"""The requests that are measured: each is different, as those of clients are."""

import json
import random
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from itertools import count
from typing import Any

from benchmarks.citus.content import AUTHORS, FIRST_POST, TEXTS, WORDS, choose_word
from tests.deployment.hosts import Host

POST = "query ($id: ID!) { post(id: $id) { title body author { name } comments(limit: 5) { body author { name } } } }"
PAGE = (
    "query ($n: Int, $after: String) { postsConnection(first: $n, after: $after) {"
    " edges { cursor node { id title publishedAt tags author { id name } } } } }"
)
FILTERED = (
    "query ($n: Int, $filter: PostFilter) { postsConnection(first: $n, filter: $filter) {"
    " edges { node { id title author { id name } } } } }"
)
CREATE = "mutation ($input: CreatePostInput!) { createPost(input: $input) { id title } }"
COMMENT = "mutation ($input: AddCommentInput!) { addComment(input: $input) { id } }"
LISTS = (  # ask each shard
    "page of 10", "page of 10 after a cursor", "search for a title", "search for a word", "an author's posts",
)  # fmt: skip
Body = dict[str, Any]


class Requester:
    """Sends GraphQL requests to a host over one connection. `key` is that of an editor, for mutations."""

    def __init__(self, host: Host, key: str, posts: int) -> None:
        self.connection = HTTPConnection(host.address, host.port, timeout=120)
        self.key, self.posts = key, posts
        self.random = random.Random(1)  # the same requests in each run
        self.numbers = count()
        self.cursors: list[str] = []

    def send(self, query: str, variables: Body) -> Body:
        """Return the data of a response. Raises `RuntimeError` for a response with errors."""
        headers = {"Content-Type": "application/json"}
        if query.startswith("mutation"):
            headers["X-API-Key"] = self.key
        self.connection.request("POST", "/graphql", json.dumps({"query": query, "variables": variables}), headers)
        response = self.connection.getresponse()
        decoded = json.loads(response.read())
        if response.status != 200 or "errors" in decoded:
            raise RuntimeError(f"{response.status}: {decoded}")
        data: Body = decoded["data"]
        return data

    def choose_post(self) -> str:
        return str(FIRST_POST + self.random.randrange(self.posts))

    def read_post(self) -> None:
        require(len(self.send(POST, {"id": self.choose_post()})["post"]["comments"]), 5)

    def read_page(self) -> None:
        require(len(self.send(PAGE, {"n": self.random.choice((9, 10, 11))})["postsConnection"]["edges"]), 9)

    def read_next_page(self) -> None:
        """Read the page after a cursor of one of the newest 100 posts."""
        if not self.cursors:
            edges = self.send(PAGE, {"n": 100})["postsConnection"]["edges"]
            self.cursors = [edge["cursor"] for edge in edges]
        values = {"n": self.random.choice((9, 10, 11)), "after": self.random.choice(self.cursors)}
        require(len(self.send(PAGE, values)["postsConnection"]["edges"]), 9)

    def search_title(self) -> None:
        """Search for the title of a post: one word that all have, and one that one has."""
        self.read_filtered({"search": f'"post {self.random.randrange(self.posts)}"'})

    def search_word(self) -> None:
        """Search for a word of a text. Some words are in more texts than others."""
        word = choose_word(self.random.randrange(TEXTS), self.random.randint(1, WORDS))
        self.read_filtered({"search": f'"{word}"'})

    def read_author(self) -> None:
        author = str(FIRST_POST + self.random.randrange(AUTHORS))
        self.read_filtered({"author": author})

    def read_filtered(self, criteria: Body) -> None:
        page = self.send(FILTERED, {"n": 10, "filter": criteria})["postsConnection"]
        require(len(page["edges"]), 1)

    def create_post(self) -> None:
        title = f"Measured {self.random.randrange(10**12)} {next(self.numbers)}"
        author = str(FIRST_POST + self.random.randrange(AUTHORS))
        self.send(CREATE, {"input": {"title": title, "body": "A new post. " * 120, "authorId": author}})

    def add_comment(self) -> None:
        self.send(COMMENT, {"input": {"postId": self.choose_post(), "body": f"Comment {next(self.numbers)}"}})

    def list_kinds(self) -> Iterator[tuple[str, Callable[[], None]]]:
        yield "a post with five comments", self.read_post
        reads = (self.read_page, self.read_next_page, self.search_title, self.search_word, self.read_author)
        yield from zip(LISTS, reads, strict=True)
        yield "`createPost`", self.create_post
        yield "a comment", self.add_comment


def require(found: int, least: int) -> None:
    """Raise `RuntimeError` if a response has fewer objects than it must have."""
    if found < least:
        raise RuntimeError(f"The response has {found} objects, and at least {least} exist.")
