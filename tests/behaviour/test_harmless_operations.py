"""Operations that resemble evasions of the limits, and are executed."""

import pytest

from tests.behaviour.limit_requests import ALL, DEEP, Request, double_fragments, repeat
from tests.graphql_requests import PostToGraphQL

ANSWERED: dict[str, Request] = {
    "a byte order mark": Request("\ufeff{ __typename }"),
    "commas": Request("{,,__typename,,}"),
    "nested as deep as may be": Request("{ " + "... { " * 99 + "__typename" + " }" * 100),
    "a chain of fragments as long as may be": Request(
        "{ ...F0 } " + repeat(98, "fragment F# on Query { ...F@@ }") + " fragment F98 on Query { __typename }"
    ),
    "__typename below the deepest field": Request(
        "{ " + "posts(limit: 1) { author { " * 6 + "__typename" + " } }" * 6 + " }"
    ),
    "introspection beside a deep query": Request(
        "{ __schema { types { fields { type { ofType { ofType { name } } } } } } "
        + "posts(limit: 1) { author { " * 5 + "name" + " } }" * 5 + " }"
    ),
    "an operation over every limit that is not chosen": Request(
        f"query A {{ __typename }} query B {{ {DEEP} {repeat(31, 'a#: __typename')} }} query C {ALL}", None, "A"
    ),
    "a string of thousands of digits": Request(f'{{ post(id: "{"1" * 30000}") {{ id }} }}'),
    "an id of thousands of digits": Request(f"{{ post(id: {'1' * 30000}) {{ id }} }}"),
    "a default of thousands of digits": Request(
        f"query ($i: ID! = {'1' * 30000}) {{ __typename author(id: $i) {{ id }} }}"
    ),
    "fragments that double within the limits": Request(
        "{ posts(limit: 1) { ...F0 } } " + double_fragments("Post", "id title"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ANSWERED)
def test_harmless_operation_that_resembles_an_evasion_is_executed(post: PostToGraphQL, case: str) -> None:
    request = ANSWERED[case]

    response = post({"query": request.query, "variables": request.variables, "operationName": request.name})

    assert response.data
