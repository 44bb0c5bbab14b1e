"""What earlier requests left in the caches changes no response: its bytes, headers and statements stay the same."""

import re
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contentapi.core.caching import NAMED_CACHES
from contentapi.core.identity import ALL_SCOPES, Actor, Role, Scope
from contentapi.db.ids import SEQUENCE
from contentapi.db.statements import execute
from contentapi.graphql import endpoint
from contentapi.rate_limits.account import COUNTERS
from tests.contentapi.projection.documents import Request, requests
from tests.contentapi.projection.execution import recorded
from tests.contentapi.projection.fixture_rows import ACTORS, FIRST, IDA, POSTS, USERS, fill
from tests.thoroughness import scale_examples

pytestmark = [pytest.mark.django_db, pytest.mark.property, pytest.mark.usefixtures("no_limits")]

TOKENS = {
    "token": Actor(USERS[IDA], Role.AUTHOR, ALL_SCOPES, "jwt"),
    "token of a client": Actor(
        USERS[IDA], Role.EDITOR, frozenset({Scope.POSTS_READ, Scope.POSTS_WRITE}), "jwt", "", "c"
    ),
}
CALLERS = ACTORS | TOKENS
NOW = datetime(2030, 1, 1, tzinfo=UTC)
SAVEPOINT = re.compile(r"s\d+_x\d+")  # has a number that increases
WRITES = [  # with variables that a client may leave out, and selections of an object or none
    "updatePost(input: {id: $id, title: $text, tags: $tags, expectedVersion: $version})",
    "publishPost(id: $id, expectedVersion: $version)",
    "unpublishPost(id: $id)",
    "archivePost(id: $id, expectedVersion: $version)",
    "addComment(input: {postId: $id, body: $text})",
    "deletePost(id: $id, expectedVersion: $version)",
    "deleteComment(id: $id)",
]
VARIABLES = {"id": "ID!", "text": "String!", "tags": "[String!]", "version": "String"}
SELECTIONS = [
    "{ id }",
    "{ author { name } ... on Post { title status version } }",
    "{ author { titel } }",
    "{ id @skip(if: true) }",
]
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "id": st.sampled_from([*map(str, POSTS), str(FIRST + 1000), "0", "none"]),
    "text": st.sampled_from(["Title", " ", "x" * 201, "a\0b", 7]),
    "tags": st.sampled_from([None, [], ["a"], ["a", "a"], "a"]),
    "version": st.sampled_from([None, "1", '"1"', "99"]),
}


@st.composite
def write_requests(draw: st.DrawFn) -> Request:
    """Return an operation of one or two mutations, and two sets of values, of which some are missing or wrong."""
    fields = draw(st.lists(st.sampled_from(WRITES), min_size=1, max_size=2))
    calls = [
        f"m{number}: {field} {draw(st.sampled_from(SELECTIONS)) if not field.startswith('delete') else ''}"
        for number, field in enumerate(fields)
    ]
    declared = ", ".join(f"${name}: {kind}" for name, kind in VARIABLES.items() if f"${name}" in " ".join(fields))
    atomic = draw(st.sampled_from(["", "@atomic"]))
    values = st.fixed_dictionaries({}, optional=VALUES) | st.fixed_dictionaries(VALUES)
    return Request(f"mutation ({declared}) {atomic} {{ {' '.join(calls)} }}", None, (draw(values), draw(values)), 0)


@pytest.mark.parametrize(
    ("documents", "examples"),
    [(requests(), 200), (requests(mutations=True), 100), (write_requests(), 300)],
    ids=["queries", "creations", "writes"],
)
def test_response_is_that_of_empty_caches(
    client: Client, monkeypatch: pytest.MonkeyPatch, documents: st.SearchStrategy[Request], examples: int
) -> None:
    fill()
    monkeypatch.setattr("django.utils.timezone.now", lambda: NOW)
    monkeypatch.setattr("blog.services.posts.datetime", SimpleNamespace(now=lambda _: NOW))

    def respond(request: Request, variables: dict[str, Any], caller: str) -> tuple[Any, ...]:
        """Return a response to a request with its statements, and undo what it wrote."""
        COUNTERS.clear()
        monkeypatch.setattr(endpoint, "authenticate_request", lambda _: CALLERS[caller])
        body = {"query": request.text, "operationName": request.operation_name, "variables": variables}
        body["extensions"] = {"cost": True}
        with transaction.atomic():
            execute("SELECT setval(%s, %s)", [SEQUENCE, FIRST - 1000])
            with recorded() as statements:
                response = client.post("/graphql", body, content_type="application/json")
            transaction.set_rollback(True)
        headers = dict(response.headers.items())
        content = response.content.replace(headers.pop("X-Request-ID").encode(), b"")
        return response.status_code, headers, content, [SAVEPOINT.sub("", sql) for sql, _ in statements]

    @settings(max_examples=scale_examples(examples), deadline=None, suppress_health_check=[*HealthCheck])
    @given(request=documents, callers=st.lists(st.sampled_from([*CALLERS]), min_size=3, max_size=3, unique=True))
    def responds_the_same(request: Request, callers: list[str]) -> None:
        first, second = request.both_variables
        ways = list(zip((first, first, second), callers, strict=True))
        _, kept = [[respond(request, *way) for way in ways] for _ in range(2)]
        for way, response in zip(ways, kept, strict=True):
            for cache in NAMED_CACHES.values():
                cache.clear()
            assert respond(request, *way) == response

    responds_the_same()
