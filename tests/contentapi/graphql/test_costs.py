"""The costs of documents, each compared with a number counted by hand."""

import re
from typing import Any

import pytest
from graphql import build_schema, parse

from contentapi.graphql.cost_directives import CostDirectiveError, read_schema_costs
from contentapi.graphql.costs import measure_costs
from contentapi.graphql.limits import COUNT_CAP
from contentapi.schema import SCHEMA
from tests.contentapi.graphql.cost_documents import CONNECTED, DIRECTIVES, PAGE, PAGED


def cost(document: str, variables: dict[str, Any] | None = None, name: str = "", schema: Any = SCHEMA) -> int:
    return measure_costs(schema, parse(document))[name].evaluate(variables)


@pytest.mark.parametrize(
    ("document", "counted"),
    [
        ("{ post(id: 1) { id title tags } }", 1),
        ("{ post(id: 1) { id author { name } } }", 2),
        ("{ posts { id } }", 10),
        ("{ posts(limit: null) { id } }", 10),
        ("{ posts(limit: 7) { author { name } } }", 14),
        ("{ posts(limit: 7) { comments { id } } }", 7 + 7 * 100),
        ("{ a: posts(limit: 3) { id } b: posts(limit: 4) { id } }", 7),
        ("{ posts(limit: 3) { id } author(id: 1) { posts(limit: 5) { id } } }", 3 + 1 + 5),
        ("{ posts(limit: 3) @skip(if: true) { author @include(if: false) { id } } }", 6),
        ("{ posts(limit: 0) { author { id } } }", 0),
        ("{ posts(limit: -4) { author { id } } }", 0),
        ("{ posts(limit: 2000000000) { id } }", 100),
        ("{ ...Q } fragment Q on Query { posts(limit: 2) { ...P ...P } } fragment P on Post { author { id } }", 6),
        ("{ posts(limit: 2) { ... on Post { author { id } } ... { author { id } } } }", 6),
        ('{ __typename __schema { types { fields { name } } } __type(name: "Post") { name } }', 0),
        ("{ post(id: 1) { __typename } }", 1),
        ('mutation { createPost(input: {title: "", body: ""}) { author { id } } }', 2),
        (PAGE, 100 * (1 + 100 * 2 + 1)),
    ],
)
def test_object_costs_1_and_page_multiplies_its_selection(document: str, counted: int) -> None:
    assert cost(document) == counted


@pytest.mark.parametrize(
    ("head", "variables", "counted"),
    [
        ("($n: Int)", {"n": 7}, 14),
        ("($n: Int)", {"n": 7.0}, 14),
        ("($n: Int)", {}, 20),
        ("($n: Int)", {"n": None}, 20),
        ("($n: Int = 3)", {}, 6),
        ("($n: Int = 3)", {"n": 4}, 8),
        ("($n: Int = 3)", {"n": None}, 20),
        ("($n: Int)", {"n": -7}, 0),
        ("($n: Int)", {"n": 10**30}, 200),
        ("($n: Int)", {"n": True}, 20),
        ("($n: Int)", {"n": "7"}, 20),
        ("($n: Int)", {"n": float("inf")}, 20),
    ],
)
def test_page_size_comes_from_variable_or_default(head: str, variables: Any, counted: int) -> None:
    assert cost(
        f"query {head} {{ ...Q }} fragment Q on Query {{ posts(limit: $n) {{ author {{ id }} }} }}", variables
    ) == (counted)


def test_each_operation_is_measured_with_its_own_defaults() -> None:
    document = """
        query A($n: Int = 2) { ...Q } query B($n: Int = 3) { ...Q } mutation C { __typename }
        fragment Q on Query { posts(limit: $n) { id } }
    """

    assert [cost(document, {}, name) for name in ("A", "B", "C")] == [2, 3, 0]
    assert [operation.writes for operation in measure_costs(SCHEMA, parse(document)).values()] == [0, 0, 0]


@pytest.mark.parametrize(
    ("document", "writes"),
    [
        ('mutation { deletePost(id: "1") }', 1),
        ('mutation { a: deletePost(id: "1") b: deletePost(id: "2") __typename c: __typename }', 2),
        ('mutation { deletePost(id: "1") deletePost(id: "1") }', 1),
        ('mutation { a: deletePost(id: "1") @skip(if: true) b: deletePost(id: "2") @include(if: false) }', 2),
        (
            'mutation { ...F ... { ...F b: deletePost(id: "2") } } '
            'fragment F on Mutation { a: deletePost(id: "1") ...G } fragment G on Mutation { c: deletePost(id: "3") }',
            3,
        ),
        ('{ a: post(id: "1") { id } b: post(id: "2") { id } }', 0),
    ],
)
def test_each_response_key_of_a_mutation_is_one_write(document: str, writes: int) -> None:
    assert measure_costs(SCHEMA, parse(document))[""].writes == writes


@pytest.mark.parametrize(
    ("document", "leaves"),
    [
        ('mutation { deletePost(id: "1") }', 1),
        ('mutation { a: deletePost(id: "1") publishPost(id: "2") { id tags author { name bio } __typename } }', 6),
        ('mutation { publishPost(id: "2") { ...F ...F } } fragment F on Post { id title }', 4),
        ('mutation { publishPost(id: "2") { id comments(limit: 1) { id } } }', COUNT_CAP),
        ('mutation { publishPost(id: "2") { author { posts { id } } } }', COUNT_CAP),
        ('mutation { publishPost(id: "2") { commentsConnection(first: 1) { edges { node { id } } } } }', COUNT_CAP),
        ('mutation { publishPost(id: "2") { commentsConnection(first: 1) { totalCount } } }', 1),
    ],
)
def test_leaves_are_counted_and_a_list_has_the_maximum(document: str, leaves: int) -> None:
    assert measure_costs(SCHEMA, parse(document))[""].leaves == leaves


@pytest.mark.parametrize(
    ("document", "counted"),
    [
        ("{ things(first: 3) { edges { node { id } } } }", 1 + 3),
        ("{ things(last: 4) { edges { node { next { id } } } } }", 1 + 4 * 2),
        ("{ things { edges { node { id } } } }", 1 + 10),
        ("{ things(first: null) { edges { node { id } } } }", 1 + 10),
        ("{ things { total } }", 1),
        ("{ things { total info { total } } }", 2),
        ("{ things(first: 5) { edges { __typename } info { total } edges { other { total } } } }", 1 + 1 + 5 + 5 * 2),
        ("{ things(first: 2) { edges { a: node { id } b: node { next { id } } } } }", 1 + 2 * 2),
        ("{ search { edges { node { id } } } }", 1 + 20),
        ("{ search(first: 2) { edges { node { id } } } }", 1 + 2),
        ("{ things(first: 2, last: 9) { edges { node { id } } } }", 1 + 9),
        (
            "{ a: things(first: 2) { ...T } b: things(last: 3) { ...T } } "
            "fragment T on ThingConnection { ...E info { total } } "
            "fragment E on ThingConnection { edges { node { id } } }",
            (2 + 2) + (2 + 3),
        ),
        (
            "{ things(first: 2) { ... on ThingConnection { edges { node { ... on Thing { parts { id } } } } } } }",
            1 + 2 * 6,
        ),
        ("{ list { id } }", 100),
        ("{ unknown { id } }", 100),
        ("{ list(first: 7) { id } }", 7),
    ],
)
def test_connection_costs_its_items_and_itself_once(document: str, counted: int) -> None:
    assert cost(document, schema=PAGED) == counted


@pytest.mark.parametrize(
    ("document", "counted"),
    [
        ("{ any { id } }", 1),
        ("{ any { next { id } ... on Thing { parts { id } } } }", 1 + 1 + 5),
        ("{ any { ... on Thing { parts { id } } ... on Part { info { total } } } }", 1 + 5),
        ("{ any { ... on Thing { parts(limit: 1) { id } } ... on Part { a: info { total } b: info { total } } } }", 3),
        ("{ any { ... on Node { ... on Part { info { total } } } ...T } } fragment T on Thing { parts { id } }", 1 + 5),
        ("{ any { ...N } list(first: 2) { ...N } } fragment N on Node { ... on Part { info { total } } }", 2 + 2),
        ("{ list(first: 2) { ... on Node { next { id } ... on Thing { parts { id } } } } }", 2 * (1 + 1 + 5)),
    ],
)
def test_object_of_an_interface_costs_as_much_as_the_costliest_type(document: str, counted: int) -> None:
    assert cost(document, schema=PAGED) == counted


def test_variables_decide_which_type_costs_the_most() -> None:
    document = "query ($n: Int) { any { ... on Thing { parts(limit: $n) { id } } ... on Part { info { slow } } } }"

    assert [cost(document, {"n": n}, schema=PAGED) for n in (1, 5, 6, 100)] == [1 + 5, 1 + 5, 1 + 6, 1 + 100]


@pytest.mark.parametrize(
    ("head", "ids", "variables", "counted"),
    [
        ("", '["1", "2", "3"]', {}, 3),
        ("", "[]", {}, 0),
        ("", "4", {}, 1),
        ('($a: ID = "1")', "[$a, $a]", {}, 2),
        ("($ids: [ID!])", "$ids", {"ids": ["1", "2"]}, 2),
        ("($ids: [ID!])", "$ids", {"ids": "1"}, 1),
        ("($ids: [ID!])", "$ids", {"ids": 7}, 1),
        ("($ids: [ID!])", "$ids", {"ids": []}, 0),
        ("($ids: [ID!])", "$ids", {"ids": ["1"] * 1000}, 100),
        ('($ids: [ID!] = ["1", "2", "3"])', "$ids", {}, 3),
        ("($ids: [ID!])", "$ids", {}, 100),
        ("", "null", {}, 100),
    ],
)
def test_length_of_a_list_of_ids_is_its_size(head: str, ids: str, variables: dict[str, Any], counted: int) -> None:
    assert cost(f"query {head} {{ some(ids: {ids}) {{ id }} }}", variables, schema=PAGED) == counted


@pytest.mark.parametrize(
    ("head", "arguments", "variables", "counted"),
    [
        ("", "", {}, 3),
        ("", '(text: "a")', {}, 3 + 7),
        ("", "(text: null, of: null)", {}, 3),
        ("($t: String)", "(text: $t)", {"t": "a"}, 3 + 7),
        ("($t: String)", "(text: $t)", {"t": None}, 3),
        ("($t: String)", "(text: $t)", {}, 3),
        ('($t: String = "a")', "(text: $t)", {}, 3 + 7),
        ("", '(of: {words: "a", id: 1})', {}, 3 + 50),
        ("", '(of: {words: null, not: {words: "a"}})', {}, 3 + 50),
        ("", '(all: [{words: "a"}, {words: "b", not: {words: "c"}}, null])', {}, 3 + 150),
        ("($f: Filter)", "(of: $f, all: [$f, {not: $f}])", {"f": {"words": "a"}}, 3 + 150),
        ("($f: [Filter])", "(all: $f)", {"f": [{"words": "a"}, None, {"not": {"words": "b"}}]}, 3 + 100),
        ("($f: [Filter])", "(all: $f)", {"f": {"words": "a"}}, 3 + 50),
        ("($f: Filter)", "(of: $f)", {"f": {"id": "1"}}, 3),
        ("($f: Filter)", "(of: $f)", {"f": {"unknown": {"words": "a"}}}, 3),
        ("($f: Filter)", "(of: $f)", {"f": "no object"}, 3),
        ('($f: Filter = {words: "a"})', "(of: $f)", {}, 3 + 50),
        ("($w: String)", "(of: {words: $w, not: {words: $w}})", {"w": "a"}, 3 + 100),
    ],
)
def test_input_costs_the_weights_of_its_members(
    head: str, arguments: str, variables: dict[str, Any], counted: int
) -> None:
    assert cost(f"query {head} {{ find{arguments} {{ id }} }}", variables, schema=PAGED) == counted


def test_weight_of_a_type_or_a_scalar_replaces_the_default() -> None:
    assert cost("{ heavy { id info { total slow a: slow } } }", schema=PAGED) == 9 + 1 + 2 * 4


@pytest.mark.parametrize(
    ("sdl_text", "message"),
    [
        ('type Query { one: Query @cost(weight: "1.5") }', '@cost(weight: "1.5") is not a whole number.'),
        (
            'type Query { a: P @listSize(assumedSize: 1, sizedFields: ["items"]) b: P } type P { items: [Int] }',
            "Fields that return P have different sizedFields: its cost is ambiguous.",
        ),
    ],
)
def test_sdl_that_does_not_determine_a_cost_is_an_error(sdl_text: str, message: str) -> None:
    with pytest.raises(CostDirectiveError, match=re.escape(message)):
        read_schema_costs(build_schema(DIRECTIVES + sdl_text))


@pytest.mark.parametrize(
    ("variables", "counted"),
    [
        ({"n": 100}, 2 + 10 + 100 * (1 + 1 + (1 + 100 * 2))),
        ({"n": 100, "m": None}, 2 + 10 + 100 * (1 + 1 + (1 + 10 * 2))),
        ({"n": 3, "m": 2}, 2 + 10 + 3 * (1 + 1 + (1 + 2 * 2))),
        ({}, 2 + 10 + 10 * (1 + 1 + (1 + 100 * 2))),
    ],  # the 10 are for the count
)
def test_connection_cost_depends_on_variables_and_defaults(variables: dict[str, Any], counted: int) -> None:
    assert cost(CONNECTED, variables) == counted


@pytest.mark.parametrize("size", ["1", "$n"])
def test_doubling_fragments_are_measured_once_and_capped(size: str) -> None:
    doubling = [
        f"fragment F{number} on Post {{ a: author {{ posts(limit: {size}) {{ ...F{number + 1} }} }} "
        f"b: author {{ posts(limit: {size}) {{ ...F{number + 1} }} }} }}"
        for number in range(60)
    ]
    document = (
        f"query ($n: Int) {{ posts(limit: {size}) {{ ...F0 }} }} {' '.join(doubling)} fragment F60 on Post {{ id }}"
    )

    assert cost(document, {"n": 1}) == COUNT_CAP


@pytest.mark.parametrize(
    ("document", "counted"),
    [
        ("query ($n: Int = null) { list(first: $n) { id } }", 100),
        ("query ($n: Int) { search(first: $n) { total } }", 1),
        ("query ($n: Int) { search(first: $n) { edges { other { total } } } }", 1 + 20 * 2),
        ('query ($all: [Filter] = [{words: "x"}, {words: null}]) { find(all: $all) { id } }', 3 + 50),
        ("{ any { ... on Informed { info { total } } } }", 2),
    ],
)
def test_defaults_and_interfaces_are_read_as_the_server_executes_them(document: str, counted: int) -> None:
    assert cost(document, schema=PAGED) == counted


def test_leaves_of_an_interface_are_those_of_the_type_that_has_the_most() -> None:
    document = parse("{ node(id: 1) { id ... on Post { title body } } }")

    assert measure_costs(SCHEMA, document)[""].leaves == 3
