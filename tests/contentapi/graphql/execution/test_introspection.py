"""Introspection: results equal to graphql-core's, their cost and their cache."""

import itertools
import json
from random import Random
from typing import NoReturn

import pytest
from graphql import GraphQLSchema, execute_sync, get_introspection_query, parse, validate
from hypothesis import given, settings
from hypothesis import strategies as st

from contentapi.core.errors import LimitExceeded
from contentapi.graphql.documents import get_operation
from contentapi.graphql.execution.introspection import INTROSPECTIONS, MAX_INTROSPECTED_FIELDS
from contentapi.schema import SCHEMA
from tests.contentapi.graphql.execution.introspection_documents import (
    RICH,
    VARIABLES,
    DocumentGenerator,
    count_fields,
    count_objects,
    introspect,
    read_values,
)
from tests.factories import make_post
from tests.graphql_requests import PostToGraphQL
from tests.thoroughness import scale_examples


@pytest.mark.property
@pytest.mark.parametrize("schema", [RICH, SCHEMA], ids=["rich", "ours"])
def test_introspection_equals_graphql_core_and_costs_its_objects(schema: GraphQLSchema) -> None:
    @settings(max_examples=scale_examples(150), deadline=None)
    @given(st.randoms(use_true_random=False))
    def is_equal(rng: Random) -> None:
        text = DocumentGenerator(schema, rng).generate_document()
        document = parse(text)
        assert validate(schema, document) == []
        expected = execute_sync(schema, document, variable_values=VARIABLES)
        assert expected.errors is None
        data = {key: value for key, value in (expected.data or {}).items() if key != "z"}
        try:
            found = introspect(schema, text, VARIABLES)
        except LimitExceeded:
            assert count_fields(data) > MAX_INTROSPECTED_FIELDS
            return
        assert json.dumps(read_values(found)) == json.dumps(data)  # the order of the members too
        assert found.objects == count_objects(data) - 1

    is_equal()


OPTIONS = ("descriptions", "specified_by_url", "directive_is_repeatable", "schema_description",
           "input_value_deprecation", "one_of")  # fmt: skip
STANDARD = [dict.fromkeys(OPTIONS, True), dict.fromkeys(OPTIONS, False)]


@pytest.mark.parametrize(("switches", "type_depth"), [(STANDARD[0], 12), (STANDARD[1], 9)])
def test_standard_query_costs_its_objects_and_at_most_1000(switches: dict[str, bool], type_depth: int) -> None:
    text = get_introspection_query(**switches, type_depth=type_depth)
    expected = execute_sync(SCHEMA, parse(text)).data

    found = introspect(SCHEMA, text)

    assert read_values(found) == expected
    assert found.objects == count_objects(expected) - 1
    assert found.cost <= 1000


TOOLS = {
    "a tool that detects features first": """
        query Features {
          schemaType: __type(name: "__Schema") { name fields { name } }
          directiveType: __type(name: "__Directive") { fields { name args { name } } }
          typeType: __type(name: "__Type") { fields(includeDeprecated: true) { name args { name } } }
          inputValueType: __type(name: "__InputValue") { fields { name } }
          fieldType: __type(name: "__Field") { fields { name args { name } } }
        }""",
    "a tool without fragments": """
        query IntrospectionQuery { __schema { queryType { name } mutationType { name } subscriptionType { name }
          types { kind name description possibleTypes { name } interfaces { name }
            enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
            inputFields { name type { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }
            fields(includeDeprecated: true) { name description isDeprecated
              args { name defaultValue type { kind name ofType { kind name ofType { kind name } } } }
              type { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } }
          directives { name locations args { name type { kind name ofType { kind name } } } } } }""",
    "a check that the server is there": "query Health { __typename __schema { queryType { name } } }",
}  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize("tool", TOOLS)
def test_query_of_a_tool_passes_and_costs_at_most_1000(post: PostToGraphQL, tool: str) -> None:
    responses = [post({"query": TOOLS[tool], "extensions": {"cost": True}}) for _ in range(2)]

    expected = execute_sync(SCHEMA, parse(TOOLS[tool])).data
    cost = min(count_objects(expected) - 1, 1000)
    assert responses[0].body == responses[1].body == {"data": expected, "extensions": {"cost": cost}}


# --- With data and with variables ----------------------------------------------------------------------


@pytest.mark.django_db
def test_introspection_with_data_costs_its_objects(post: PostToGraphQL) -> None:
    make_post(title="Soup")
    document = '{ first: __typename posts(limit: 3) { title } __type(name: "PostStatus") { enumValues { name } } }'

    response = post({"query": document, "extensions": {"cost": True}})

    statuses = [{"name": name} for name in ("draft", "scheduled", "published", "archived")]
    assert response.body == {
        "data": {"first": "Query", "posts": [{"title": "Soup"}], "__type": {"enumValues": statuses}},
        "extensions": {"cost": 3 + 1 + 4},
    }
    assert list(response.body["data"]) == ["first", "posts", "__type"]


@pytest.mark.django_db
def test_missing_type_is_null_and_costs_nothing(post: PostToGraphQL) -> None:
    response = post({"query": '{ __type(name: "Nothing") { name } }', "extensions": {"cost": True}})

    assert response.body == {"data": {"__type": None}, "extensions": {"cost": 0}}


@pytest.mark.django_db
def test_each_value_of_a_variable_has_its_own_result(post: PostToGraphQL) -> None:
    document = "query ($name: String!, $with: Boolean!) { __type(name: $name) { name kind @include(if: $with) } }"

    responses = {
        (name, switch): post({"query": document, "variables": {"name": name, "with": switch, "unused": name}}).data
        for name, switch in itertools.product(["Post", "Query"], [True, False])
        for _ in range(2)
    }

    for (name, switch), data in responses.items():
        assert data == {"__type": {"name": name, **({"kind": "OBJECT"} if switch else {})}}


@pytest.mark.django_db
def test_invalid_variable_is_reported_as_in_any_operation(post: PostToGraphQL) -> None:
    response = post({"query": "query ($name: String!) { __type(name: $name) { name } }", "variables": {"name": 1}})

    assert (response.status, response.codes, set(response.body)) == (400, ["BAD_REQUEST"], {"errors"})


@pytest.mark.django_db
@pytest.mark.parametrize("selection", ["types @include(if: $x) { name }", "directives(includeDeprecated: $x) { name }"])
def test_null_for_a_directive_or_an_argument_is_a_client_error(post: PostToGraphQL, selection: str) -> None:
    document = f"query ($x: Boolean = true) {{ __typename __schema {{ {selection} }} }}"

    response = post({"query": document, "variables": {"x": None}})

    assert (response.status, response.codes, response.body["data"]) == (400, ["BAD_REQUEST"], None)
    assert response.body["errors"][0]["path"][0] == "__schema"


@pytest.mark.django_db
def test_null_for_a_directive_at_the_root_is_a_client_error(post: PostToGraphQL) -> None:
    document = "query ($x: Boolean = true) { __schema @include(if: $x) { queryType { name } } }"

    response = post({"query": document, "variables": {"x": None}})

    assert (response.status, response.codes) == (400, ["BAD_REQUEST"])


# --- The cache ------------------------------------------------------------------------------------------


def fail() -> NoReturn:
    raise AssertionError("The response was not cached.")


def test_operation_with_introspection_only_is_built_once() -> None:
    INTROSPECTIONS.clear()
    document = "query Q($name: String!) { __typename __type(name: $name) { name } } # built once"
    work: list[str] = []

    for name in ("Post", "Post", "Author"):
        found = get_operation(SCHEMA, document, None).introspect({"name": name}, before_work=lambda: work.append(""))
        assert found is not None
        assert read_values(found) == {"__type": {"name": name}}
    again = get_operation(SCHEMA, document, None).introspect({"name": "Post"}, before_work=fail)

    assert len(work) == 2
    assert again is not None
    assert again.objects == 1


def test_operation_with_data_is_not_cached() -> None:
    INTROSPECTIONS.clear()

    introspect(SCHEMA, "{ __schema { queryType { name } } post(id: 1) { id } }")

    assert INTROSPECTIONS.weight == 0


def test_operation_with_long_variables_is_not_cached() -> None:
    """The cache counts the bytes of results, but not those of the variables in the key."""
    INTROSPECTIONS.clear()
    document = "query Q($name: String!) { __type(name: $name) { name } }"

    found = get_operation(SCHEMA, document, None).introspect({"name": "x" * 10_000})

    assert found is not None
    assert INTROSPECTIONS.weight == 0
