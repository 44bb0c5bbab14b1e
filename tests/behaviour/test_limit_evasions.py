"""Known evasions of the limits. Each is refused with the name of the limit, and not executed."""

import json
from typing import Any

import pytest

from contentapi.graphql.errors import LONGEST_MESSAGE
from tests.behaviour.limit_requests import ALL, DEEP, Request, build_sized_request, double_fragments, repeat
from tests.graphql_requests import PostToGraphQL

LONG = 32 * 1024
REFUSED: dict[str, tuple[str, Request]] = {
    # fragments that double
    "aliases that double": ("ALIASES", Request("{ ...F0 } " + double_fragments("Query", "a: __typename"))),
    "root fields that double": ("ROOT_FIELDS", Request("{ ...F0 } " + double_fragments("Query", "__typename"))),
    "mutations that double": ("MUTATIONS", Request("mutation { ...F0 } " + double_fragments("Mutation", "__typename"))),
    "directives that double": (
        "DIRECTIVES",
        Request("{ post(id: 0) { ...F0 } } " + double_fragments("Post", "id", "...F@@ @skip(if: false) ...F@@")),
    ),
    "costs that double": (
        "COST",
        Request(
            "{ posts(limit: 100) { ...F0 } } "
            + repeat(3, "fragment F# on Post { author { ...A# } comments { author { ...A# } } }")
            + repeat(3, "fragment A# on Author { posts { ...F@@ } }")
            + " fragment F3 on Post { id }"
        ),
    ),
    # fragments named like introspection
    "a fragment named __schema": (
        "DEPTH",
        Request(f"{{ posts {{ ...__schema }} }} fragment __schema on Post {{ author {{ {DEEP} }} }}"),
    ),
    # depth through fragments
    "depth, fragments after": (
        "DEPTH",
        Request(
            "{ posts { ...P } } fragment P on Post { author { ...A } } "
            "fragment A on Author { posts { author { posts { author { posts { author { posts { author { posts { "
            "author { name } } } } } } } } } } }"
        ),
    ),
    "depth, not included": ("DEPTH", Request(f"{{ {DEEP.replace('posts', 'posts @include(if: false)', 1)} }}")),
    # aliases and root fields
    "aliases in two fragments": (
        "ALIASES",
        Request(
            f"{{ post(id: 0) {{ ...A ...B }} }} fragment A on Post {{ {repeat(16, 'a#: id')} }} "
            f"fragment B on Post {{ {repeat(15, 'b#: id')} }}"
        ),
    ),
    # introspection
    "introspection wrapped in fragments": (
        "INTROSPECTION_DEPTH",
        Request(
            "{ ...S } fragment S on Query { __schema { ...T } } fragment T on __Schema { types { ...U } } "
            f"fragment U on __Type {{ {'ofType { ' * 16} name {'} ' * 16} }}"
        ),
    ),
    # directives
    "directives on everything": (
        "DIRECTIVES",
        Request(
            "query ($a: Int D) D { a D ...F D ... D { a } } fragment F on Query D { a }".replace(
                " D", repeat(9, " @d", "")
            )
        ),
    ),
    # sizes
    "a size by variable": ("COST", build_sized_request("$n: Int", 100)),
    "cost, not included": ("COST", Request(ALL.replace("posts(limit: 100)", "posts(limit: 100) @include(if: false)"))),
    "cost of a field that is written twice": (
        "COST",
        Request("{ posts(limit: 100) { comments { author { id } } comments { author { name } } } }"),
    ),
    # operations
    "the first operation": ("COST", Request(f"query A {ALL} query B {{ __typename }}", None, "A")),
    "an operation named like a fragment": (
        "ALIASES",
        Request(
            f"query F {{ post(id: 0) {{ ...F ...F }} }} fragment F on Post {{ {repeat(16, 'a#: id')} }}", None, "F"
        ),
    ),
    "tokens in an operation that is not chosen": (
        "TOKENS",
        Request(f"query A {{ __typename }} query B {{ {repeat(2000, 'a')} }}", None, "A"),
    ),
    "comparisons in an operation that is not chosen": (
        "COMPARISONS",
        Request(f"query A {{ __typename }} query B {{ {repeat(1900, '__typename')} }}", None, "A"),
    ),
    # texts
    "a long string": ("QUERY_LENGTH", Request(f'{{ post(id: "{"x" * LONG}") {{ id }} }}')),
    "byte order marks": ("QUERY_LENGTH", Request("\ufeff" * LONG + "{ __typename }")),
    "comments": ("TOKENS", Request("#\n" * 2001 + "{ __typename }")),
}  # fmt: skip


@pytest.mark.parametrize("way", REFUSED)
def test_known_evasions_of_the_limits_are_rejected(
    post: PostToGraphQL, way: str, django_assert_num_queries: Any
) -> None:
    limit, request = REFUSED[way]

    with django_assert_num_queries(0):
        response = post({"query": request.query, "variables": request.variables, "operationName": request.name})

    assert (response.status, response.codes, set(response.body)) == (400, ["LIMIT_EXCEEDED"], {"errors"})
    assert response.body["errors"][0]["message"].endswith(f" is allowed (CONTENTAPI_MAX_{limit}).")


NESTED = {
    "fields": "{a" * 300 + "}" * 300,
    "fragments": "{ ...F0 } "
    + repeat(101, "fragment F# on Query { ...F@@ }")
    + " fragment F101 on Query { __typename }",
    "fragments of an operation that is not chosen": (
        "query A { __typename } query B { ...F0 } "
        + repeat(101, "fragment F# on Query { ...F@@ }")
        + " fragment F101 on Query { __typename }"
    ),
    "objects": "mutation { createPost(input: " + "{a:" * 300 + "1" + "}" * 300 + ") { id } }",
    "types": "query ($a: " + "[" * 300 + "Int" + "]" * 300 + ") { __typename }",
}


@pytest.mark.parametrize("kind", NESTED)
def test_nesting_deeper_than_the_stack_is_rejected(post: PostToGraphQL, kind: str) -> None:
    response = post({"query": NESTED[kind], "operationName": "A" if "query A" in NESTED[kind] else None})

    assert (response.status, response.codes, set(response.body)) == (400, ["LIMIT_EXCEEDED"], {"errors"})
    assert response.body["errors"][0]["message"].startswith("The query's nesting is ")
    assert response.body["errors"][0]["message"].endswith("; at most 100 is allowed.")


def test_nested_lists_of_introspection_are_rejected(post: PostToGraphQL) -> None:
    response = post({"query": '{ __type(name: "Query") { ' + "fields { type { " * 3 + "name" + " } }" * 3 + " } }"})

    message = "The query's depth of lists in introspection is 3 or more; at most 2 is allowed."
    assert (response.status, response.body["errors"][0]["message"]) == (400, message)


def test_too_many_values_in_variables_are_rejected(post: PostToGraphQL) -> None:
    responses = [post({"query": "{ __typename }", "variables": {"a": [1] * items}}) for items in (9997, 9998)]

    assert [response.status for response in responses] == [200, 400]
    assert responses[1].body["errors"][0]["message"] == (
        "The query's number of values in variables is 10001; at most 10000 is allowed (CONTENTAPI_MAX_VALUES)."
    )


@pytest.mark.parametrize("value", ["100", [100], {"n": 100}, True, 100.5, 10**30, 10**400, 1e300, -1, "", [], {}])
def test_page_size_of_a_wrong_type_is_rejected_before_execution(
    post: PostToGraphQL, value: Any, django_assert_num_queries: Any
) -> None:
    request = build_sized_request("$n: Int", value)

    with django_assert_num_queries(0):
        response = post({"query": request.query, "variables": request.variables})

    assert response.status == 400
    assert response.codes in (["BAD_REQUEST"], ["LIMIT_EXCEEDED"])


# --- Messages ---------------------------------------------------------------------------------------------

WORDY = {
    "a number": Request("{ posts(limit: " + "1" * 30000 + ") { id } }"),
    "a name": Request("{ " + "p" * 30000 + " }"),
    "an enum in a variable": Request("query ($a: PostStatus) { posts(status: $a) { id } }", {"a": "d" * 100_000}),
    "a whole number in a variable": Request("query ($a: Int) { posts(limit: $a) { id } }", {"a": 10**4000}),
    "an operation's name": Request("{ __typename }", None, "x" * 100_000),
}


@pytest.mark.parametrize("case", WORDY)
def test_message_does_not_repeat_long_input(post: PostToGraphQL, case: str) -> None:
    request = WORDY[case]

    response = post({"query": request.query, "variables": request.variables, "operationName": request.name})

    assert response.status == 400
    assert max(len(error["message"]) for error in response.body["errors"]) <= LONGEST_MESSAGE
    assert len(json.dumps(response.body)) < 20_000
    assert "set_int_max_str_digits" not in json.dumps(response.body)


def test_number_of_reported_errors_is_limited(post: PostToGraphQL) -> None:
    response = post({"query": "{ post(id: 0) { " + " ".join(f"wrong{number}" for number in range(500)) + " } }"})

    assert (response.status, set(response.codes), len(response.codes)) == (400, {"GRAPHQL_VALIDATION_FAILED"}, 21)
