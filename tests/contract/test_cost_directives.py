"""A client can compute the cost of an operation from the SDL alone, as docs/graphql.md describes it.

`compute_cost` is such a client. It reads the directives of /schema.graphql and shares no code with the server.
"""

from typing import Any, NamedTuple

import pytest
from django.test import Client
from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLArgument,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLNamedType,
    GraphQLSchema,
    OperationDefinitionNode,
    SelectionSetNode,
    VariableValues,
    build_schema,
    get_argument_values,
    get_directive_values,
    get_named_type,
    get_variable_values,
    is_abstract_type,
    is_composite_type,
    parse,
)
from hypothesis import HealthCheck, assume, given, settings

from contentapi.graphql.costs import measure_costs
from contentapi.schema import SCHEMA
from tests.contentapi.projection.documents import Request, requests
from tests.contentapi.projection.fixture_rows import fill
from tests.thoroughness import scale_examples


class Size(NamedTuple):
    """The size that a field gives to the fields of its selection with these names."""

    number: int
    fields: tuple[str, ...]


class CostClient:
    """Computes costs from the directives of an SDL."""

    def __init__(self, sdl: str) -> None:
        self.schema: GraphQLSchema = build_schema(sdl)

    def compute_cost(self, document: DocumentNode, operation_name: str | None, variables: dict[str, Any]) -> int | None:
        """Return the cost, or None if a variable is invalid."""
        operations = {
            node.name.value if node.name else None: node
            for node in document.definitions
            if isinstance(node, OperationDefinitionNode)
        }
        operation = operations[operation_name] if len(operations) > 1 else next(iter(operations.values()))
        values = get_variable_values(self.schema, operation.variable_definitions or (), variables)
        if not isinstance(values, VariableValues):
            return None
        self.fragments = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }
        self.values = values
        root: Any = self.schema.get_root_type(operation.operation)
        return self.read_weight(root, default=1) + self.add_selection(root, operation.selection_set, Size(1, ()))

    def read_directive(self, name: str, element: Any) -> dict[str, Any] | None:
        directive: Any = self.schema.get_directive(name)
        return get_directive_values(directive, element.ast_node) if element.ast_node else None

    def read_weight(self, *elements: Any, default: int) -> int:
        """Return the weight of the first element that has one."""
        for element in elements:
            directive = self.read_directive("cost", element)
            if directive is not None:
                return int(directive["weight"])
        return default

    def add_selection(self, parent: GraphQLNamedType, node: SelectionSetNode, size: Size) -> int:
        if is_abstract_type(parent):
            return max(self.add_selection(kind, node, size) for kind in self.schema.get_possible_types(parent))
        return sum(self.add_part(parent, part, size) for part in node.selections)

    def add_part(self, parent: Any, part: Any, size: Size) -> int:
        if isinstance(part, FieldNode):
            return self.add_field(parent, part, size)
        fragment: Any = self.fragments[part.name.value] if isinstance(part, FragmentSpreadNode) else part
        condition: Any = fragment.type_condition and self.schema.get_type(fragment.type_condition.name.value)
        if condition is None or condition is parent or condition in parent.interfaces:
            return self.add_selection(parent, fragment.selection_set, size)
        return 0

    def add_field(self, parent: Any, node: FieldNode, around: Size) -> int:
        name = node.name.value
        if name == "__typename":
            return 0
        field = parent.fields[name]
        kind = get_named_type(field.type)
        arguments = get_argument_values(field, node, self.values)
        inputs = sum(self.add_input(field.args[key], value) for key, value in arguments.items())
        cost = self.read_weight(field, kind, default=int(is_composite_type(kind)))
        list_size, size, inner = self.read_directive("listSize", field), 1, Size(1, ())
        if list_size is not None:
            size = self.read_size(list_size, arguments)
        elif name in around.fields:
            size = around.number
        if list_size is not None and list_size.get("sizedFields"):
            size, inner = 1, Size(size, tuple(list_size["sizedFields"]))
        if node.selection_set is not None:
            cost += self.add_selection(kind, node.selection_set, inner)
        return size * cost + inputs

    def read_size(self, list_size: dict[str, Any], arguments: dict[str, Any]) -> int:
        values = [arguments.get(name) for name in list_size.get("slicingArguments", ())]
        sizes = [len(value) if isinstance(value, list) else value for value in values if value is not None]
        return max(sizes) if sizes else list_size["assumedSize"]

    def add_input(self, element: GraphQLArgument | GraphQLInputField, value: Any) -> int:
        if value is None:
            return 0
        if isinstance(value, list):
            return sum(self.add_input(element, item) for item in value)
        kind = get_named_type(element.type)
        cost = self.read_weight(element, default=0)
        if isinstance(kind, GraphQLInputObjectType):
            cost += sum(self.add_input(kind.fields[name], member) for name, member in value.items())
        return cost


@pytest.fixture(scope="module")
def client_of_costs() -> CostClient:
    return CostClient(Client().get("/schema.graphql").content.decode())


def compare(client: CostClient, request: Request, variables: dict[str, Any]) -> int | None:
    document = parse(request.text)
    cost = client.compute_cost(document, request.operation_name, variables)
    if cost is None:
        return None
    measured = measure_costs(SCHEMA, document)
    operation = measured[request.operation_name] if request.operation_name else next(iter(measured.values()))
    assert operation.evaluate(variables) == cost, request.text
    return cost


@pytest.mark.django_db
@pytest.mark.property
@pytest.mark.parametrize("mutations", [False, True])
def test_cost_from_the_directives_equals_the_cost_of_the_server(client_of_costs: CostClient, mutations: bool) -> None:  # noqa: FBT001
    fill()  # the documents contain cursors of these rows

    @settings(max_examples=scale_examples(300), deadline=None, suppress_health_check=list(HealthCheck))
    @given(request=requests(mutations=mutations))
    def costs_the_same(request: Request) -> None:
        assume(f": {request.wrong_limit}" not in request.text)  # the server rejects such a page
        for variables in request.both_variables:
            compare(client_of_costs, request, variables)

    costs_the_same()


@pytest.mark.parametrize(
    ("text", "variables", "cost"),
    [
        ("{ posts { author { name } } }", {}, 20),
        ("query ($n: Int) { posts(limit: $n) { comments { id } } }", {"n": 3}, 3 + 3 * 100),
        ("{ postsConnection { totalCount edges { cursor node { title author { name } } } } }", {}, 1 + 10 + 10 * 2),
        (
            "{ posts(limit: 3) { commentCount images { image { usedBy(first: 1) { totalCount } } } } }",
            {},
            3 * (1 + 1 + 100 * 13),
        ),
        ('{ postsConnection(first: 2, filter: {search: "a"}) { edges { cursor } } }', {}, 1 + 2 + 500),
        (
            "query ($f: PostFilter) { postsConnection(first: 2, filter: $f) { edges { cursor } } }",
            {"f": {"search": "a"}},
            1 + 2 + 500,
        ),
        (
            "query ($n: Int = 4) { posts(limit: $n) { ...P } } "
            "fragment P on Post { commentsConnection(first: 5) { edges { node { author { id } } } } }",
            {},
            4 * (1 + 1 + 5 * 2),
        ),
        (
            "query ($ids: [ID!]!) { nodes(ids: $ids) "
            "{ ... on Post { author { name } } ... on Author { posts(limit: 2) { id } } } }",
            {"ids": ["1", "2", "3"]},
            3 * (1 + 2),
        ),
        ("{ orders(last: 7) { edges { node { tracking { carrier } } } } }", {}, 1 + 7 * 2),
        ('mutation { createPost(input: {title: "a", body: "b"}) { author { id } } }', {}, 2),
        ("{ __typename }", {}, 0),
    ],
)
def test_client_computes_the_documented_costs(
    client_of_costs: CostClient, text: str, variables: dict[str, Any], cost: int
) -> None:
    assert compare(client_of_costs, Request(text, None, (variables, variables), 0), variables) == cost
