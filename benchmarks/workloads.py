"""The workloads: the text of each query, and the variables of its n-th request.

All requests differ: ids and limits vary, and `extensions.n` makes each body unique, so that no server can cache
responses. The text stays the same, as in a real client. Only in the workloads `*-new` does each request have a new
alias, so that its text is new to the server.
"""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from benchmarks.dataset import AUTHORS, POSTS, is_published

Data = dict[str, Any]

POST = "query post($id: ID!) { post(id: $id) { title body status author { name } } }"
PAGE = (
    "query page10($limit: Int, $status: PostStatus) { posts(limit: $limit, status: $status) {"
    " id title createdAt tags commentCount author { id name avatarUrl } comments { id body author { name } } } }"
)
PAGE_OF_100 = (
    "query page100($limit: Int) { posts(limit: $limit) {"
    " id title body status createdAt updatedAt tags commentCount"
    " author { id name bio avatarUrl email } comments { id body author { id name } } } }"
)
TYPENAME = "query typename { __typename }"
CREATE = "mutation create($input: CreatePostInput!) { createPost(input: $input) { id title status } }"
TEXTS = {"post": POST, "page10": PAGE, "page100": PAGE_OF_100, "typename": TYPENAME, "create": CREATE}

ROWS = (10, 20, 50, 100)
GROUPS = {
    "default": ("post", "page10", "page100", "typename", "create"),
    "api-key": ("create-key",),
    "first-request": ("post-new", "page10-new"),
    "growth": tuple(f"rows{count}" for count in ROWS),
}
ALL = tuple(name for group in GROUPS.values() for name in group)
DIFFERENT_BODIES = {
    "post": 4000,
    "create": 60_000,
    "create-key": 60_000,
    "post-new": 20_000,
    "page10-new": 10_000,
}  # else 500


def operation(workload: str) -> str:
    """Return the operation that a workload sends: a key of `TEXTS`."""
    return "page10" if workload.startswith("rows") else workload.removesuffix("-new").removesuffix("-key")


def variables(workload: str, rng: random.Random, number: int) -> Data:
    name = operation(workload)
    if workload.startswith("rows"):
        return {"limit": int(workload.removeprefix("rows")), "status": "published"}
    if name == "post":
        return {"id": str(published_id(rng))}
    if name == "page10":
        return {"limit": rng.choice((9, 10, 11)), "status": "published"}
    if name == "page100":
        return {"limit": rng.choice((98, 99, 100))}
    if name == "create":
        title = f"Benchmark post {number} of {rng.randrange(10**9)}"
        return {"input": {"title": title, "body": "A new post. " * 120, "authorId": str(rng.randint(1, AUTHORS))}}
    return {}


def published_id(rng: random.Random) -> int:
    return next(number for number in iter(lambda: rng.randint(1, POSTS), 0) if is_published(number))


@dataclass(frozen=True)
class Dialect:
    """Translates requests and responses between the common schema and the schema of a server."""

    texts: dict[str, str] = field(default_factory=dict)
    to_variables: Callable[[str, Data], Data] = lambda _, values: values
    from_data: Callable[[str, Data], Data] = lambda _, data: data

    def body(self, workload: str, values: Data, number: int = 0, series: str = "") -> str:
        name = operation(workload)
        text = self.texts.get(name, TEXTS[name])
        if workload.endswith("-new"):
            text = text.replace(" title ", f" t{series}_{number}: title ", 1)
        return json.dumps(
            {
                "operationName": name,
                "query": text,
                "variables": self.to_variables(name, values),
                "extensions": {"n": number},
            }
        )

    def bodies(self, workload: str, series: str) -> Iterator[str]:
        """Yield the bodies of a run. Each series has different ones, so that no measured body was sent to warm up."""
        rng = random.Random(f"{workload}/{series}")
        for number in range(DIFFERENT_BODIES.get(workload, 500)):
            yield self.body(workload, variables(workload, rng, number), number, series)
