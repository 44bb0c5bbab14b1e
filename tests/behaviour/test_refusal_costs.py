"""No refusal costs more than it is charged, and one that depends on the document alone costs little the second time.

The work is the number of calls of Python functions, which is the same on a busy machine.
"""

from collections.abc import Callable
from cProfile import Profile
from typing import Any

import pytest

from contentapi.graphql.documents import DOCUMENTS, REFUSALS
from contentapi.graphql.execution.introspection import INTROSPECTIONS, MAX_INTROSPECTED_FIELDS
from contentapi.rate_limits.account import COUNTERS
from tests.graphql_requests import GraphQLResponse, post_to_graphql

# For a unit of the limit: an accepted request of one unit may have a new document of 2,000 tokens, and 10,000 values.
CALLS = 700_000
CALLS_WHEN_KNOWN = 4_000  # of a request whose refusal is remembered: those of a small request, and 20 errors

OVERLAPPING = "".join(f"fragment A{i} on Post {{ {'author { name id bio } ' * 4} }}" for i in range(60))
ALL_TYPES = " ".join(f"a{i}: types {{ name kind description fields {{ name }} }}" for i in range(25))
DEEP = "{ posts { author { posts { author { posts { author { posts { author { posts { author { posts { author { name"
REFUSED: dict[str, tuple[str, Any]] = {
    "syntax": ("{ posts { id } ", None),
    "length": ("{ posts { id } }" + " " * 40_000, None),
    "tokens": ("{" + " a" * 16_000 + "}", None),
    "tokens, and no syntax": ("{" + " a" * 1_990 + "}" * 5, None),
    "comments": ("{ a " + "#\n" * 16_000 + "}", None),
    "depth": (DEEP + " }" * 13, None),
    "nesting": ("{" + "... {" * 110 + "__typename" + "}" * 111, None),
    "aliases": ("{" + " ".join(f"a{i}: __typename" for i in range(600)) + "}", None),
    "root fields": ("{ " + "posts { title } " * 390 + "}", None),
    "directives": ("{ __typename " + "@skip(if: false) " * 330 + "}", None),
    "mutations": (
        "mutation {" + " ".join(f'deletePost(input: {{id: "{i}"}}) {{ __typename }}' for i in range(90)),
        None,
    ),
    "cost": ("{ posts(limit: 100) { author { posts(limit: 100) { author { posts(limit: 100) { id } } } } } }", None),
    "unknown fields": ("{ posts {" + " ".join(f"f{i}" for i in range(1_900)) + "} }", None),
    "unused variables": ("query (" + " ".join(f"$v{i}: Int" for i in range(450)) + ") { posts { id } }", None),
    "comparisons": ("{ posts {" + " ".join(f"...A{i}" for i in range(60)) + "} }" + OVERLAPPING, None),
    "operation name": ("query A { posts { id } } query B { posts { id } }", None),
    "introspection": (f"{{ __schema {{ {ALL_TYPES} }} }}", None),
    "introspection beside data": (f"{{ posts {{ id }} __schema {{ {ALL_TYPES} }} }}", None),
    "depth of introspection": (
        "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }",
        None,
    ),
    "variables": ("query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", {"ids": ["1"] * 9_990 + [{}]}),
    "values of variables": ("query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", {"ids": ["1"] * 200_000}),
    "members of variables": (
        "mutation ($i: CreatePostInput!) { createPost(input: $i) { __typename } }",
        {"i": {f"m{i}": 1 for i in range(4_000)}},
    ),
}
BY_VARIABLES = {"variables", "values of variables", "members of variables"}


def count_calls(function: Callable[[], GraphQLResponse]) -> tuple[GraphQLResponse, int]:
    profile = Profile()
    response = profile.runcall(function)
    return response, sum(entry.callcount for entry in profile.getstats())


def send(name: str) -> tuple[GraphQLResponse, int, int]:
    """Return the response to a document, the number of calls, and what was charged."""
    COUNTERS.clear()
    text, variables = REFUSED[name]
    response, calls = count_calls(lambda: post_to_graphql({"query": text, "variables": variables}))
    remaining = int(response.headers["RateLimit"].partition("r=")[2].partition(";")[0])
    return response, calls, 300 - remaining


@pytest.fixture(autouse=True)
def _nothing_is_known() -> None:
    post_to_graphql({"query": "{ __typename }"})  # whatever the first request of a process loads
    for cache in (DOCUMENTS, REFUSALS, INTROSPECTIONS):
        cache.clear()


@pytest.mark.thorough
@pytest.mark.parametrize("name", REFUSED)
def test_refusal_costs_no_more_than_it_is_charged_and_is_remembered(name: str) -> None:
    response, calls, charged = send(name)

    assert response.status == 400, response.body
    assert "data" not in response.body
    assert calls <= CALLS * charged, (calls, charged)
    if name == "introspection":  # what it has visited
        assert charged == 1 + MAX_INTROSPECTED_FIELDS // 1000
    if name not in BY_VARIABLES:
        again, calls, charged_again = send(name)
        assert (again.status, list_errors(again), charged_again) == (400, list_errors(response), charged)
        assert calls <= CALLS_WHEN_KNOWN, calls


def list_errors(response: GraphQLResponse) -> list[Any]:
    return [{**error, "extensions": {**error["extensions"], "requestId": ""}} for error in response.body["errors"]]
