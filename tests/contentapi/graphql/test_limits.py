"""Sizes of operations, counted by hand, and each limit tested at and above its value at the endpoint."""

import msgspec
import pytest
from graphql import parse
from pytest_django import Settings

from contentapi.graphql.limits import build_limit_error, measure_operations
from tests.graphql_requests import PostToGraphQL

COUNTED = ("depth", "introspection_depth", "root_fields", "aliases", "directives")


def count_size(document: str, name: str = "") -> dict[str, int]:
    """Return the counts that are not 0."""
    size = measure_operations(parse(document))[name].size._asdict()
    return {name: size[name] for name in COUNTED if size[name]}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("{ a }", {"depth": 1, "root_fields": 1}),
        ("{ a { b c { d } } }", {"depth": 3, "root_fields": 1}),
        ("{ a b: a c: a }", {"depth": 1, "root_fields": 3, "aliases": 2}),
        ("{ a a a }", {"depth": 1, "root_fields": 3}),
        ("{ ... { ... on Q { a } } }", {"depth": 1, "root_fields": 1}),
        ("{ a @x @y { ... @x { b @x } } }", {"depth": 2, "root_fields": 1, "directives": 4}),
        ("query ($a: A @x) @y { ...F @z } fragment F on Q @q { a }", {"depth": 1, "root_fields": 1, "directives": 4}),
        ("{ __typename }", {"root_fields": 1}),
        ("{ a { __typename } }", {"depth": 1, "root_fields": 1}),
        ("{ __schema { types { name __typename } } }", {"introspection_depth": 3, "root_fields": 1}),
        ("{ a { b } __type { c } }", {"depth": 2, "introspection_depth": 2, "root_fields": 2}),
        ("{ __schema: a { b } }", {"depth": 2, "root_fields": 1, "aliases": 1}),
        ("{ a: __schema { b } }", {"introspection_depth": 2, "root_fields": 1, "aliases": 1}),
        ("{ ...__schema } fragment __schema on Q { a }", {"depth": 1, "root_fields": 1}),
        ("{ a { ...F } } fragment F on Q { b { c } }", {"depth": 3, "root_fields": 1}),
        ("fragment G on Q { c } fragment F on Q { ...G } { ...F }", {"depth": 1, "root_fields": 1}),
        ("{ ...F ...F } fragment F on Q { x: a }", {"depth": 1, "root_fields": 2, "aliases": 2}),
        (
            "{ a { ...F } b { ...F @x } } fragment F on Q { x: c y: d @y }",
            {"depth": 2, "root_fields": 2, "aliases": 4, "directives": 3},
        ),
        (
            "{ __schema { ...F } ...G } fragment F on S { a { b } } fragment G on Q { __type { c { ...F } } }",
            {"introspection_depth": 4, "root_fields": 2},
        ),
    ],
)
def test_operation_size_is_counted(document: str, expected: dict[str, int]) -> None:
    assert count_size(document) == expected


@pytest.mark.parametrize(
    ("document", "braces"),
    [
        ("{ a }", 1),
        ("{ a { b } c { d { e } } }", 3),
        ("{ ... { ... on Q { a } } }", 3),
        ("{ a { ...F } } fragment F on Q { b { c } }", 4),
        ("fragment G on Q { __schema { a } } fragment F on Q { ...G } { ...F }", 4),
    ],
)
def test_nested_braces_are_counted(document: str, braces: int) -> None:
    assert measure_operations(parse(document))[""].size.nesting == braces


def test_each_operation_is_measured_separately() -> None:
    document = "query A { a ...F } mutation B { x: b } fragment F on Q { c { d } }"

    assert count_size(document, "A") == {"depth": 2, "root_fields": 2}
    assert count_size(document, "B") == {"depth": 1, "root_fields": 1, "aliases": 1}


@pytest.mark.parametrize("order", [1, -1])
def test_doubling_fragments_are_measured_once_each(order: int) -> None:
    doubling = [f"fragment F{number} on Q {{ ...F{number + 1} ...F{number + 1} }}" for number in range(90)]
    document = parse(" ".join(["{ ...F0 } fragment F90 on Q { a: b @c }", *doubling][::order]))

    size = measure_operations(document)[""].size

    assert (size.aliases, size.directives, size.root_fields) == (2**90, 2**90, 2**90)
    assert (size.depth, size.nesting) == (1, 92)


@pytest.mark.parametrize(
    "document",
    [
        "{ ...F } fragment F on Q { a { ...F } }",
        "{ ...F } fragment F on Q { ...G } fragment G on Q { ...F b }",
        "{ ...F } fragment F on Q { ...G ...H } fragment G on Q { ...H ...F } fragment H on Q { ...G ...F a }",
        "{ ...Nothing a }",
        "{ ...F } fragment F on Q { ...Nothing a }",
    ],
)
def test_cyclic_and_missing_fragments_terminate(document: str) -> None:
    assert measure_operations(parse(document))[""].size.nesting >= 1


# --- At the endpoint ------------------------------------------------------------------------------------


TAGGED = 'mutation {{ createPost(input: {{title: "", body: "", tags: [{}]}}) {{ id }} }}'  # 23 tokens, and the tags


@pytest.mark.parametrize(
    ("allowed", "refused", "variable"),
    [
        ("{ __typename } #é" + "x" * (32 * 1024 - 18), "{ __typename } #é" + "x" * (32 * 1024 - 17), "QUERY_LENGTH"),
        (TAGGED.format('"" ' * 1977), TAGGED.format('"" ' * 1978), "TOKENS"),
        ("#\n" * 2000 + "{ __typename }", "#\n" * 2001 + "{ __typename }", "TOKENS"),
    ],
)
def test_text_at_the_limit_passes_and_one_more_is_rejected(
    post: PostToGraphQL, allowed: str, refused: str, variable: str
) -> None:
    within, over = post({"query": allowed}), post({"query": refused})

    assert "data" in within.body
    assert (over.status, over.codes) == (400, ["LIMIT_EXCEEDED"])
    assert over.body["errors"][0]["message"].endswith(f" is allowed (CONTENTAPI_MAX_{variable}).")


@pytest.mark.parametrize(
    ("variable", "document"),
    [
        ("contentapi_max_aliases", "{ a: __typename b: __typename }"),
        ("contentapi_max_tokens", "{ __typename }"),
        ("contentapi_max_query_length", "{ __typename }"),
    ],
)
def test_each_limit_is_a_setting_also_for_a_cached_document(
    post: PostToGraphQL, settings: Settings, variable: str, document: str
) -> None:
    known = post({"query": document})

    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, **{variable: 1})
    # The limits of the text apply before it is cached.
    response = post({"query": document + " " * (variable in ("contentapi_max_tokens", "contentapi_max_query_length"))})

    assert (known.status, response.status, response.codes) == (200, 400, ["LIMIT_EXCEEDED"])
    assert f"at most 1 is allowed ({variable.upper()})." in response.body["errors"][0]["message"]


@pytest.mark.parametrize(("number", "status"), [(58, 200), (59, 400)])
def test_values_of_variables_are_counted_in_a_long_body(
    post: PostToGraphQL, settings: Settings, number: int, status: int
) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_max_values=61)
    body = {
        "query": "{ __typename }",
        "variables": {"a": [1] * number},
    }  # three more values: the object, a name and the list

    assert post(body).status == status


def test_limit_error_names_its_limit_for_metrics() -> None:
    assert build_limit_error("number of aliases", 3, 2).limit == "number of aliases"
