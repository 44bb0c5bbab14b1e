"""Random introspection documents, and the execution of introspection."""

import json
from random import Random
from typing import Any

from graphql import GraphQLObjectType, GraphQLSchema, OperationDefinitionNode, build_schema, get_named_type, parse

from contentapi.graphql.costs import measure_costs
from contentapi.graphql.execution.introspection import Introspection
from contentapi.graphql.execution.operations import DocumentFragments, Operation

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


class DocumentGenerator:
    """Generates random introspection documents: aliases, fragments, directives, arguments and merged fields."""

    def __init__(self, schema: GraphQLSchema, rng: Random) -> None:
        self.schema = schema
        self.rng = rng
        self.fragments: dict[
            str, tuple[str, int, str]
        ] = {}  # by name: the type, the number of lists around it, and the text

    def generate_document(self) -> str:
        roots = [self.generate_root() for _ in range(self.rng.randint(1, 3))]
        fragments = [f"fragment {name} on {kind} {text}" for name, (kind, _, text) in self.fragments.items()]
        return f"{HEAD} {{ {USES} {' '.join(roots)} }} {' '.join(fragments)}"

    def generate_root(self) -> str:
        alias = self.rng.choice("ab")
        if self.rng.random() < 0.5:
            types = f"{{ types0: types {self.generate_selection('__Type', 1)} }}"
            return f"s{alias}: __schema {types} s{alias}: __schema {self.generate_selection('__Schema', 0)}"
        place = self.rng.randrange(len(self.schema.type_map) + 1)
        name = ["Nothing", *self.schema.type_map][place]
        directive, selection = self.generate_directive(), self.generate_selection("__Type", 0)
        return f't{alias}{place}: __type(name: "{name}") {directive} {selection}'

    def generate_selection(self, kind: str, depth: int, lists: int = 0) -> str:
        """Return a selection set. `lists` is the number of fields of `LISTS` around it, at most two."""
        count = self.rng.randint(2, 5) if depth < 3 else self.rng.randint(1, 2)
        return f"{{ {' '.join(self.generate_selected(kind, depth, lists) for _ in range(count))} }}"

    def generate_selected(self, kind: str, depth: int, lists: int) -> str:
        chance = self.rng.random()
        if chance < 0.1 and depth < 6:
            condition = self.rng.choice(["", f"on {kind}"])
            return f"... {condition} {self.generate_directive()} {self.generate_selection(kind, depth + 1, lists)}"
        if chance < 0.25:
            return f"...{self.generate_fragment(kind, depth, lists)} {self.generate_directive()}"
        if chance < 0.3:
            return "__typename"
        return self.generate_field(kind, depth, lists)

    def generate_fragment(self, kind: str, depth: int, lists: int) -> str:
        known = [
            name for name, (condition, around, _) in self.fragments.items() if (condition, around) == (kind, lists)
        ]
        if known and (depth > 4 or self.rng.random() < 0.6):
            return self.rng.choice(known)
        text = self.generate_selection(kind, depth + 2, lists) if depth <= 4 else "{ __typename }"
        name = f"F{len(self.fragments)}"
        self.fragments[name] = (kind, lists, text)
        return name

    def generate_field(self, kind: str, depth: int, lists: int) -> str:
        described = self.schema.type_map[kind]
        assert isinstance(described, GraphQLObjectType)
        names = [name for name in described.fields if lists < 2 or name not in LISTS]
        leaves = [name for name in names if not is_object(described.fields[name].type)]
        name = self.rng.choice(names if depth < 7 or not leaves else leaves)
        found = described.fields[name]
        number, arguments = self.rng.choice(DEPRECATED) if found.args else (0, "")
        inside = ""
        if is_object(found.type):
            inside = self.generate_selection(get_named_type(found.type).name, depth + 1, lists + (name in LISTS))
        return f"{self.rng.choice(ALIASES)}{name}{number}: {name}{arguments} {self.generate_directive()} {inside}"

    def generate_directive(self) -> str:
        return self.rng.choice(
            [""] * 8 + ["@skip(if: $no)", "@include(if: $no)", "@include(if: $yes)", "@skip(if: $yes)"]
        )


def is_object(kind: Any) -> bool:
    return isinstance(get_named_type(kind), GraphQLObjectType)


def build_operation(schema: GraphQLSchema, text: str) -> Operation:
    document = parse(text)
    [node] = [each for each in document.definitions if isinstance(each, OperationDefinitionNode)]
    name = node.name.value if node.name else ""
    return Operation(schema, DocumentFragments(document), node, measure_costs(schema, document)[name])


def introspect(schema: GraphQLSchema, text: str, variables: dict[str, Any] | None = None) -> Introspection:
    found = build_operation(schema, text).introspect(variables or {})
    assert found is not None
    return found


def read_values(found: Introspection) -> dict[str, Any]:
    assert found.error is None
    return {key: json.loads(text) for key, text in found.values.items()}


def count_objects(value: Any) -> int:
    """Count JSON objects."""
    if isinstance(value, dict):
        return 1 + sum(map(count_objects, value.values()))
    return sum(map(count_objects, value)) if isinstance(value, list) else 0


def count_fields(value: Any) -> int:
    """Count the members of JSON objects."""
    if isinstance(value, dict):
        return len(value) + sum(map(count_fields, value.values()))
    return sum(map(count_fields, value)) if isinstance(value, list) else 0
