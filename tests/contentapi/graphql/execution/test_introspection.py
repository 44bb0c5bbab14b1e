"""Introspection: results equal to graphql-core's, their cost, their cache and their limits."""

import itertools
import json
from random import Random
from typing import Any, NoReturn

import msgspec
import pytest
from graphql import (
    GraphQLObjectType,
    GraphQLSchema,
    OperationDefinitionNode,
    build_schema,
    execute_sync,
    get_introspection_query,
    get_named_type,
    parse,
    validate,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest_django import Settings

from contentapi.core.errors import LimitExceeded
from contentapi.graphql.costs import measure_costs
from contentapi.graphql.documents import get_operation
from contentapi.graphql.execution.introspection import INTROSPECTIONS, Introspection
from contentapi.graphql.execution.operations import DocumentFragments, Operation
from contentapi.schema import SCHEMA
from tests.factories import make_post
from tests.graphql_requests import Post, build_error_entry
from tests.thoroughness import examples

RICH = build_schema('''
"""Everything that a schema can describe."""
schema { query: Query mutation: Mutation }
directive @rich(old: Int @deprecated(reason: "old"), new: [String!]! = ["a"]) repeatable on FIELD | OBJECT
scalar Url @specifiedBy(url: "https://url.invalid")
enum Colour { RED "not \\"blue\\"" BLUE @deprecated(reason: "sad") }
input Choice @oneOf { a: Int b: String }
input Form { choice: Choice = {a: 1}, old: Url @deprecated, list: [[Colour!]]! = [[RED]] }
interface Thing { id: ID! old: Int @deprecated(reason: "ünused") }
interface Named implements Thing { id: ID! old: Int name(form: Form, old: Int @deprecated): String }
type A implements Thing & Named { id: ID! old: Int name(form: Form, old: Int @deprecated, more: Int): String }
type B { a(colours: [Colour!]! = [RED, BLUE]): [A!]! union: Union }
union Union = A | B
type Query { b: B thing(id: ID!): Thing }
type Mutation { set(form: Form!): B! }
''')
ALIASES = ("", "", "x", "y")
LISTS = ("fields", "inputFields", "interfaces", "possibleTypes")
DEPRECATED = [(0, ""), *enumerate([f"(includeDeprecated: {value})" for value in ("true", "$yes", "$no")], 1)]
VARIABLES = {"yes": True, "no": False, "name": "Query"}
HEAD = 'query ($yes: Boolean!, $no: Boolean = false, $name: String! = "Post") '
USES = "__typename @skip(if: $yes) z: __typename @skip(if: $no) n: __type(name: $name) { __typename }"


class Grower:
    """Generates random introspection documents: aliases, fragments, directives, arguments and merged fields."""

    def __init__(self, schema: GraphQLSchema, rng: Random) -> None:
        self.schema = schema
        self.rng = rng
        self.fragments: dict[
            str, tuple[str, int, str]
        ] = {}  # by name: the type, the number of lists around it, and the text

    def document(self) -> str:
        roots = [self.root() for _ in range(self.rng.randint(1, 3))]
        fragments = [f"fragment {name} on {kind} {text}" for name, (kind, _, text) in self.fragments.items()]
        return f"{HEAD} {{ {USES} {' '.join(roots)} }} {' '.join(fragments)}"

    def root(self) -> str:
        alias = self.rng.choice("ab")
        if self.rng.random() < 0.5:
            types = f"{{ types0: types {self.selection('__Type', 1)} }}"
            return f"s{alias}: __schema {types} s{alias}: __schema {self.selection('__Schema', 0)}"
        place = self.rng.randrange(len(self.schema.type_map) + 1)
        name = ["Nothing", *self.schema.type_map][place]
        return f't{alias}{place}: __type(name: "{name}") {self.directive()} {self.selection("__Type", 0)}'

    def selection(self, kind: str, depth: int, lists: int = 0) -> str:
        """Return a selection set. `lists` is the number of fields of `LISTS` around it, at most two."""
        count = self.rng.randint(2, 5) if depth < 3 else self.rng.randint(1, 2)
        return f"{{ {' '.join(self.selected(kind, depth, lists) for _ in range(count))} }}"

    def selected(self, kind: str, depth: int, lists: int) -> str:
        chance = self.rng.random()
        if chance < 0.1 and depth < 6:
            condition = self.rng.choice(["", f"on {kind}"])
            return f"... {condition} {self.directive()} {self.selection(kind, depth + 1, lists)}"
        if chance < 0.25:
            return f"...{self.fragment(kind, depth, lists)} {self.directive()}"
        if chance < 0.3:
            return "__typename"
        return self.field(kind, depth, lists)

    def fragment(self, kind: str, depth: int, lists: int) -> str:
        known = [
            name for name, (condition, around, _) in self.fragments.items() if (condition, around) == (kind, lists)
        ]
        if known and (depth > 4 or self.rng.random() < 0.6):
            return self.rng.choice(known)
        text = self.selection(kind, depth + 2, lists) if depth <= 4 else "{ __typename }"
        name = f"F{len(self.fragments)}"
        self.fragments[name] = (kind, lists, text)
        return name

    def field(self, kind: str, depth: int, lists: int) -> str:
        described = self.schema.type_map[kind]
        assert isinstance(described, GraphQLObjectType)
        names = [name for name in described.fields if lists < 2 or name not in LISTS]
        leaves = [name for name in names if not is_object(described.fields[name].type)]
        name = self.rng.choice(names if depth < 7 or not leaves else leaves)
        found = described.fields[name]
        number, arguments = self.rng.choice(DEPRECATED) if found.args else (0, "")
        inside = ""
        if is_object(found.type):
            inside = self.selection(get_named_type(found.type).name, depth + 1, lists + (name in LISTS))
        return f"{self.rng.choice(ALIASES)}{name}{number}: {name}{arguments} {self.directive()} {inside}"

    def directive(self) -> str:
        return self.rng.choice(
            [""] * 8 + ["@skip(if: $no)", "@include(if: $no)", "@include(if: $yes)", "@skip(if: $yes)"]
        )


def is_object(kind: Any) -> bool:
    return isinstance(get_named_type(kind), GraphQLObjectType)


def operation(schema: GraphQLSchema, text: str) -> Operation:
    document = parse(text)
    [node] = [each for each in document.definitions if isinstance(each, OperationDefinitionNode)]
    name = node.name.value if node.name else ""
    return Operation(schema, DocumentFragments(document), node, measure_costs(schema, document)[name])


def introspected(schema: GraphQLSchema, text: str, variables: dict[str, Any] | None = None) -> Introspection:
    found = operation(schema, text).introspect(variables or {})
    assert found is not None
    return found


def values_of(found: Introspection) -> dict[str, Any]:
    assert found.error is None
    return {key: json.loads(text) for key, text in found.values.items()}


def objects_in(value: Any) -> int:
    """Count JSON objects."""
    if isinstance(value, dict):
        return 1 + sum(map(objects_in, value.values()))
    return sum(map(objects_in, value)) if isinstance(value, list) else 0


@pytest.mark.property
@pytest.mark.parametrize("schema", [RICH, SCHEMA], ids=["rich", "ours"])
def test_introspection_equals_graphql_core_and_costs_its_objects(schema: GraphQLSchema) -> None:
    @settings(max_examples=examples(150), deadline=None)
    @given(st.randoms(use_true_random=False))
    def is_equal(rng: Random) -> None:
        text = Grower(schema, rng).document()
        document = parse(text)
        assert validate(schema, document) == []
        expected = execute_sync(schema, document, variable_values=VARIABLES)
        assert expected.errors is None
        data = {key: value for key, value in (expected.data or {}).items() if key != "z"}
        try:
            found = introspected(schema, text, VARIABLES)
        except LimitExceeded:
            assert objects_in(data) - 1 > 5000
            return
        assert json.dumps(values_of(found)) == json.dumps(data)  # the order of the members too
        assert found.objects == objects_in(data) - 1

    is_equal()


OPTIONS = ("descriptions", "specified_by_url", "directive_is_repeatable", "schema_description",
           "input_value_deprecation", "one_of")  # fmt: skip
STANDARD = [dict.fromkeys(OPTIONS, True), *({name: name == only for name in OPTIONS} for only in ("", *OPTIONS))]


@pytest.mark.parametrize("type_depth", [9, 12])
def test_standard_query_costs_its_objects_and_at_most_1000(type_depth: int) -> None:
    for switches in STANDARD:
        text = get_introspection_query(**switches, type_depth=type_depth)
        expected = execute_sync(SCHEMA, parse(text)).data

        found = introspected(SCHEMA, text)

        assert values_of(found) == expected
        assert found.objects == objects_in(expected) - 1 <= 1000


TOOLS = {
    "graphql-js, newer, 12 levels of ofType": get_introspection_query(
        specified_by_url=True, directive_is_repeatable=True, schema_description=True, input_value_deprecation=True,
        one_of=True, type_depth=12,
    ),
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
def test_query_of_a_tool_passes_and_costs_at_most_1000(post: Post, tool: str) -> None:
    answers = [post({"query": TOOLS[tool], "extensions": {"cost": True}}) for _ in range(2)]

    expected = execute_sync(SCHEMA, parse(TOOLS[tool])).data
    assert answers[0].body == answers[1].body == {"data": expected, "extensions": {"cost": objects_in(expected) - 1}}
    assert answers[0].body["extensions"]["cost"] <= 1000


# --- Limits ---------------------------------------------------------------------------------------------


def repeated(count: int, text: str) -> str:
    return " ".join(f"a{number}: {text}" for number in range(count))


TYPE = "{ kind name description fields { name description args { name type { name } } type { name } } }"
ATTACK = (
    f"{{ {repeated(5, '__schema { ...S }')} }} fragment S on __Schema {{ {repeated(5, 'types { ...T }')} }} "
    f"fragment T on __Type {TYPE}"
)


def limited(settings: Settings, **limits: int) -> None:
    named = {f"contentapi_max_{name}": value for name, value in limits.items()}
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, **named)


@pytest.mark.django_db
def test_repeated_introspection_costs_every_object_up_to_the_limit(post: Post, settings: Settings) -> None:
    one = objects_in(execute_sync(SCHEMA, parse(f"{{ __schema {{ types {TYPE} }} }}")).data) - 2
    cost = 5 + 25 * one
    limited(settings, cost=cost)
    within = post({"query": ATTACK, "extensions": {"cost": True}})
    limited(settings, cost=cost - 1)

    answer = post({"query": f"{ATTACK} # again"})

    assert (within.status, within.body["extensions"]) == (200, {"cost": cost})
    message = f"The query's cost is {cost}; at most {cost - 1} is allowed (CONTENTAPI_MAX_COST)."
    assert (answer.status, answer.body) == (
        400,
        {"errors": [build_error_entry(answer, "LIMIT_EXCEEDED", 400, message)]},
    )


@pytest.mark.django_db
def test_limits_apply_to_a_cached_result(post: Post, settings: Settings) -> None:
    assert post({"query": ATTACK}).status == 200
    limited(settings, cost=100)

    answer = post({"query": ATTACK})

    assert (answer.status, answer.codes) == (400, ["LIMIT_EXCEEDED"])


@pytest.mark.django_db
def test_too_many_visited_objects_stop_the_execution(post: Post, settings: Settings) -> None:
    limited(settings, cost=50)

    answer = post({"query": "{ __schema { types { name fields { name } } } }"})

    message = "The query's cost is 51 or more; at most 50 is allowed (CONTENTAPI_MAX_COST)."
    assert (answer.status, answer.body) == (
        400,
        {"errors": [build_error_entry(answer, "LIMIT_EXCEEDED", 400, message)]},
    )


@pytest.mark.django_db
@pytest.mark.parametrize("selection", ["types { name description }", f"types {TYPE}"])
def test_introspection_result_over_the_size_limit_is_rejected(post: Post, settings: Settings, selection: str) -> None:
    limited(settings, response=10_000)

    answer = post({"query": f"{{ {repeated(9, f'__schema {{ {selection} }}')} }}"})

    assert (answer.status, answer.codes, set(answer.body)) == (400, ["LIMIT_EXCEEDED"], {"errors"})
    assert "(CONTENTAPI_MAX_RESPONSE)" in answer.body["errors"][0]["message"]


@pytest.mark.django_db
def test_too_many_introspection_fields_are_rejected(post: Post, settings: Settings) -> None:
    limited(settings, fields=3)

    answers = [
        post({"query": f"{{ __schema {{ types {{ {fields} }} }} }}"})
        for fields in ("kind name", "kind name description")
    ]

    assert [answer.status for answer in answers] == [200, 400]
    assert "number of fields is 4 or more" in answers[1].body["errors"][0]["message"]


# --- Beside data, and with variables --------------------------------------------------------------------


@pytest.mark.django_db
def test_introspection_with_data_costs_its_objects(post: Post) -> None:
    make_post(title="Soup")
    document = '{ first: __typename posts(limit: 3) { title } __type(name: "PostStatus") { enumValues { name } } }'

    answer = post({"query": document, "extensions": {"cost": True}})

    statuses = [{"name": name} for name in ("draft", "scheduled", "published", "archived")]
    assert answer.body == {
        "data": {"first": "Query", "posts": [{"title": "Soup"}], "__type": {"enumValues": statuses}},
        "extensions": {"cost": 3 + 1 + 4},
    }
    assert list(answer.body["data"]) == ["first", "posts", "__type"]


@pytest.mark.django_db
def test_missing_type_is_null_and_costs_nothing(post: Post) -> None:
    answer = post({"query": '{ __type(name: "Nothing") { name } }', "extensions": {"cost": True}})

    assert answer.body == {"data": {"__type": None}, "extensions": {"cost": 0}}


@pytest.mark.django_db
def test_each_value_of_a_variable_has_its_own_result(post: Post) -> None:
    document = "query ($name: String!, $with: Boolean!) { __type(name: $name) { name kind @include(if: $with) } }"

    answers = {
        (name, switch): post({"query": document, "variables": {"name": name, "with": switch, "unused": name}}).data
        for name, switch in itertools.product(["Post", "Query"], [True, False])
        for _ in range(2)
    }

    for (name, switch), data in answers.items():
        assert data == {"__type": {"name": name, **({"kind": "OBJECT"} if switch else {})}}


@pytest.mark.django_db
def test_invalid_variable_is_reported_as_in_any_operation(post: Post) -> None:
    answer = post({"query": "query ($name: String!) { __type(name: $name) { name } }", "variables": {"name": 1}})

    assert (answer.status, answer.codes, set(answer.body)) == (400, ["BAD_REQUEST"], {"errors"})


@pytest.mark.django_db
@pytest.mark.parametrize("selection", ["types @include(if: $x) { name }", "directives(includeDeprecated: $x) { name }"])
def test_null_for_a_directive_or_an_argument_is_a_client_error(post: Post, selection: str) -> None:
    document = f"query ($x: Boolean = true) {{ __typename __schema {{ {selection} }} }}"

    answer = post({"query": document, "variables": {"x": None}})

    assert (answer.status, answer.codes, answer.body["data"]) == (400, ["BAD_REQUEST"], None)
    assert answer.body["errors"][0]["path"] == ["__schema"]


@pytest.mark.django_db
def test_null_for_a_directive_at_the_root_is_a_client_error(post: Post) -> None:
    document = "query ($x: Boolean = true) { __schema @include(if: $x) { queryType { name } } }"

    answer = post({"query": document, "variables": {"x": None}})

    assert (answer.status, answer.codes) == (400, ["BAD_REQUEST"])


# --- The cache ------------------------------------------------------------------------------------------


def unexpected() -> NoReturn:
    raise AssertionError("The response was not cached.")


def test_operation_with_introspection_only_is_built_once() -> None:
    INTROSPECTIONS.clear()
    document = "query Q($name: String!) { __typename __type(name: $name) { name } } # built once"
    work: list[str] = []

    for name in ("Post", "Post", "Author"):
        found = get_operation(SCHEMA, document, None).introspect({"name": name}, before_work=lambda: work.append(""))
        assert found is not None
        assert values_of(found) == {"__type": {"name": name}}
    again = get_operation(SCHEMA, document, None).introspect({"name": "Post"}, before_work=unexpected)

    assert len(work) == 2
    assert again is not None
    assert again.objects == 1


def test_operation_with_data_is_not_cached() -> None:
    INTROSPECTIONS.clear()

    introspected(SCHEMA, "{ __schema { queryType { name } } post(id: 1) { id } }")

    assert INTROSPECTIONS.weight == 0


def test_operation_with_long_variables_is_not_cached() -> None:
    """The cache counts the bytes of results, but not those of the variables in the key."""
    INTROSPECTIONS.clear()
    document = "query Q($name: String!) { __type(name: $name) { name } }"

    found = get_operation(SCHEMA, document, None).introspect({"name": "x" * 10_000})

    assert found is not None
    assert INTROSPECTIONS.weight == 0
