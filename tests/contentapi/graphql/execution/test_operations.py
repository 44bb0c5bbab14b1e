"""Prepared operations coerce variables and arguments as graphql-core does, and threads share them."""

import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from typing import Any

import pytest
from graphql import (
    FieldNode,
    GraphQLError,
    GraphQLList,
    GraphQLNonNull,
    OperationDefinitionNode,
    build_schema,
    get_argument_values,
    get_variable_values,
    parse,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, Actor, Role
from contentapi.graphql.cost_expressions import CostExpression
from contentapi.graphql.costs import OperationCost
from contentapi.graphql.documents import DOCUMENTS, DocumentRejected, get_operation
from contentapi.graphql.execution.arguments import compile_argument_reader
from contentapi.graphql.execution.operations import DocumentFragments, Operation, has_constant_selection
from contentapi.schema import SCHEMA as OURS
from tests.contentapi.projection.execution import run
from tests.thoroughness import scale_examples

SCHEMA = build_schema(
    """
    type Query { field(a: Int, b: String! = "b", c: [Int!], d: In, e: Color = RED): String }
    input In { x: Int!, y: String = "y", z: [In!], w: Boolean }
    enum Color { RED GREEN }
    """
)
HEADS = [
    "($a: Int, $b: String!, $c: [Int!], $d: In, $e: Color)",
    '($a: Int = 1, $b: String! = "x", $c: [Int!] = [1], $d: In = {x: 1}, $e: Color = GREEN)',
    "($a: Int!, $b: String!, $c: [Int!]!, $d: In!, $e: Color!)",
]
FIELDS = [
    "field(a: $a, b: $b, c: $c, d: $d, e: $e)",
    "field(a: $a, b: $b)",
    'field(a: $a, b: "b", c: [1, 2], d: {x: $a, w: true}, e: $e)',
    "field(d: {x: 1}, b: $b, c: $c)",
]
LEAVES = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.just(2**31) | st.just(1.0) | st.sampled_from(["b", "RED", ""])
)
INPUTS = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyzwq"), inner, max_size=4),
    max_leaves=6,
)
VARIABLES = st.dictionaries(st.sampled_from("abcde"), INPUTS, max_size=5)


def build_operation(head: str, field: str) -> Operation:
    return prepare(f"query Q{head} {{ {field} }}")


def prepare(text: str) -> Operation:
    document = parse(text)
    node = document.definitions[0]
    assert isinstance(node, OperationDefinitionNode)
    return Operation(SCHEMA, DocumentFragments(document), node, OperationCost(total=CostExpression(), defaults={}))


OPERATIONS = [build_operation(head, field) for head in HEADS for field in FIELDS]


def get_outcome(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except GraphQLError as error:
        return error.message


def get_messages(errors: list[GraphQLError]) -> list[str]:
    return [error.message for error in errors]


@pytest.mark.property
def test_variables_and_arguments_are_coerced_as_in_graphql_core() -> None:
    @settings(max_examples=scale_examples(2000), deadline=None)
    @given(chosen=st.sampled_from(OPERATIONS), variables=VARIABLES)
    def are_coerced_alike(chosen: Operation, variables: dict[str, Any]) -> None:
        got = chosen.coerce_variables(variables)
        wanted = get_variable_values(SCHEMA, chosen.node.variable_definitions or (), variables, 50)
        if isinstance(wanted, list) or isinstance(got, list):
            assert isinstance(wanted, list)
            assert isinstance(got, list)
            assert get_messages(got) == get_messages(wanted)
            return
        assert got.coerced == wanted.coerced
        assert {name: got.sources[name].value for name in got.sources} == {
            name: wanted.sources[name].value for name in wanted.sources
        }
        [root] = chosen.constant_fields
        read = compile_argument_reader(root.field, root.nodes[0])
        assert get_outcome(lambda: read(got)) == get_outcome(
            lambda: get_argument_values(root.field, root.nodes[0], wanted)
        )

    are_coerced_alike()


def test_threads_share_an_operation() -> None:
    text = "query ($b: Boolean!) { one: __typename ...F } fragment F on Query { two: __typename @skip(if: $b) }"
    shared = get_operation(OURS, text, None)

    def execute_in_thread(number: int) -> Any:
        skipped = bool(number % 2)
        return skipped, shared.execute({"b": skipped}, {"actor": ANONYMOUS}).data

    with ThreadPoolExecutor(8) as threads:
        responses = list(threads.map(execute_in_thread, range(400)))

    for skipped, data in responses:
        assert data == ({"one": "Query"} if skipped else {"one": "Query", "two": "Query"})


@pytest.mark.django_db
@pytest.mark.parametrize(
    "selection", ["__typename @include(if: $x)", "...F @skip(if: $x)", "... @include(if: $x) { __typename }"]
)
def test_null_for_a_directive_at_the_root_is_a_client_error(selection: str) -> None:
    fragment = "fragment F on Query { __typename }" if "...F" in selection else ""

    executed = run(f"query ($x: Boolean = true) {{ {selection} }} {fragment}", {"x": None})

    assert executed.content.startswith(b'{"data":null')
    assert [error["extensions"]["status"] for error in executed.errors] == [400]


@pytest.mark.django_db
def test_constant_argument_is_unchanged_in_the_next_request() -> None:
    text = 'mutation { createPost(input: {title: " t ", body: "b", tags: [" a ", "b"]}) { id } }'
    shared = get_operation(OURS, text, None)
    [root] = shared.constant_fields
    assert root.read_arguments is not None
    before = deepcopy(root.read_arguments(None))

    for _ in range(2):
        shared.execute({}, {"actor": Actor(role=Role.EDITOR, scopes=ALL_SCOPES)})

    assert root.read_arguments(None) == before


def test_document_weight_grows_with_its_operations() -> None:
    one, many = ("\n".join(f"query q{n} {{ __typename }}" for n in range(count)) for count in (1, 50))
    DOCUMENTS.clear()
    get_operation(OURS, one, "q0")
    weight_of_one = DOCUMENTS.weight

    get_operation(OURS, many, "q0")

    assert DOCUMENTS.weight - weight_of_one >= 50 * len(many)
    known = DOCUMENTS.get((OURS, many))
    assert known is not None
    assert len({id(each.fragments) for each in known.operations.values()}) == 1


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("query A { __typename } query B { __typename }", None, "Must provide operation name if query contains"),
        ("query A { __typename } query B { __typename }", "C", "Unknown operation named 'C'."),
        ("query A { __typename }", "", "Unknown operation named ''."),
        ("{ __typename }", "", "Unknown operation named ''."),
        ("{ __typename }", "A", "Unknown operation named 'A'."),
        ("type T { a: Int }", None, "is not executable"),
    ],
)
def test_missing_operation_is_rejected_each_time(text: str, name: str | None, message: str) -> None:
    for _ in range(2):
        with pytest.raises(DocumentRejected, match=message):
            get_operation(OURS, text, name)


CONNECTION = "postsConnection(filter: $f, first: 1) { edges { cursor } }"


@pytest.mark.usefixtures("only_new_objects")
def test_new_documents_leave_no_types_in_memory() -> None:
    def coerce(number: int) -> None:
        text = f"query q{number}($id: ID!, $f: PostFilter!) {{ post(id: $id) {{ id }} {CONNECTION} }}"
        chosen = prepare(f"query q{number}($a: Int!, $c: [Int!]!, $d: In!) {{ {FIELDS[0]} }}")
        chosen.coerce_variables({"a": number, "c": [1], "d": {"x": 1}})
        get_operation(OURS, text, None).coerce_variables({"id": "1", "f": {}})

    coerce(0)
    gc.freeze()  # what is created once
    for number in range(1, 30):
        coerce(number)
    DOCUMENTS.clear()
    gc.collect()

    assert [each for each in gc.get_objects() if isinstance(each, GraphQLNonNull | GraphQLList)] == []


@pytest.mark.parametrize(
    ("field", "constant"),
    [
        ("d { a b }", True),
        ("d(a: $x) @skip(if: $y) { a b }", True),  # the directive decides about the field, not about its selection
        ("d { a @include(if: $y) }", False),
        ("d { a(b: $x) }", False),
        ("d { c { a(b: $x) } }", False),
        ("d { ...F }", False),
        ("d { ... on In { a } }", False),
        ("d", False),
    ],
)
def test_constant_selection_is_recognised(field: str, constant: bool) -> None:  # noqa: FBT001
    [definition] = parse(f"query ($x: Int, $y: Boolean!) {{ {field} }}").definitions
    assert isinstance(definition, OperationDefinitionNode)
    [node] = definition.selection_set.selections
    assert isinstance(node, FieldNode)

    assert has_constant_selection(node) is constant
