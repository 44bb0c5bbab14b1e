"""The examples of the explorer, against the SDL."""

from functools import cache
from typing import Any

import pytest
from graphql import FieldNode, FragmentDefinitionNode, OperationDefinitionNode, OperationType, parse, validate, visit
from graphql.execution.values import get_variable_values
from graphql.language import Visitor
from graphql.utilities import TypeInfo, TypeInfoVisitor

from contentapi.graphql.explorer.page import load_examples
from contentapi.schema import SCHEMA
from tests.contract.own_types import OWN_NAMES

EXAMPLES = [example for group in load_examples() for example in group["examples"]]


@cache
def parse_operation(text: str) -> OperationDefinitionNode:
    document = parse(text)
    assert validate(SCHEMA, document) == []
    [operation] = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    return operation


def list_root_fields(text: str) -> set[str]:
    """Return the root fields of a document as `Query.posts`."""
    found = set()
    types = TypeInfo(SCHEMA)

    class Collector(Visitor):
        def enter_field(self, node: FieldNode, *_: Any) -> None:
            parent = types.get_parent_type()
            if parent in (SCHEMA.query_type, SCHEMA.mutation_type) and not node.name.value.startswith("__"):
                found.add(f"{parent}.{node.name.value}")

    visit(parse(text), TypeInfoVisitor(types, Collector()))
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("example", EXAMPLES, ids=[example["title"] for example in EXAMPLES])
def test_example_is_valid_and_its_variables_fit(example: dict[str, Any]) -> None:
    operation = parse_operation(example["query"])
    definitions = list(operation.variable_definitions or ())

    values = get_variable_values(SCHEMA, definitions, example["variables"])

    assert not isinstance(values, list), values
    assert {definition.variable.name.value for definition in definitions} == set(example["variables"])
    assert operation.name is not None, "The tab shows the name."
    assert operation.operation is not OperationType.MUTATION or example["credential"]


def test_lookup_is_a_valid_query_for_a_variable_of_the_example() -> None:
    for example in EXAMPLES:
        for path, query in map(dict.values, example["lookups"]):
            value: Any = example["variables"]
            for name in path.split("."):
                value = value[int(name) if isinstance(value, list) else name]

            assert parse_operation(query).operation.value == "query", example["title"]


def test_examples_cover_each_root_field() -> None:
    roots = [root for root in (SCHEMA.query_type, SCHEMA.mutation_type) if root]
    fields = {f"{root}.{name}" for root in roots for name in root.fields.keys() - OWN_NAMES}

    shown = {field for example in EXAMPLES for field in list_root_fields(example["query"])}

    assert fields - shown == set(), "Add an example to contentapi/graphql/explorer/examples.yaml."


def test_examples_show_what_users_look_for() -> None:
    documents = [parse(example["query"]) for example in EXAMPLES]
    kinds = {type(node) for document in documents for node in document.definitions}
    text = "\n".join(example["query"] for example in EXAMPLES)

    assert FragmentDefinitionNode in kinds
    assert all(word in text for word in ("__schema", "__type(", "search:", "endCursor", "@include", "after:"))


def test_titles_and_names_of_operations_are_unique() -> None:
    names = [parse_operation(example["query"]).name for example in EXAMPLES]

    assert len({example["title"] for example in EXAMPLES}) == len(EXAMPLES)
    assert len({name.value for name in names if name}) == len(EXAMPLES)
