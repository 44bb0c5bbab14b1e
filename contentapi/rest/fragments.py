"""Bind the representations of resources to their GraphQL fragments in schema/resources/."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from ariadne import SchemaBindable
from graphql import (
    ExecutableDefinitionsRule,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLObjectType,
    GraphQLSchema,
    NoUnusedFragmentsRule,
    SelectionSetNode,
    Source,
    get_named_type,
    parse,
    specified_rules,
    validate,
)

from contentapi.graphql.bindings import get_projection
from contentapi.graphql.execution.arguments import compile_argument_reader
from contentapi.projection import ProjectionError
from contentapi.projection.selections import SelectedField
from contentapi.rest.representations import Representation

RULES = [rule for rule in specified_rules if rule not in (NoUnusedFragmentsRule, ExecutableDefinitionsRule)]


class RepresentationFragments(SchemaBindable):
    """The representations, as an Ariadne bindable. Raises `ProjectionError`, with the file, if one does not match."""

    def __init__(self, directory: Path, representations: Sequence[Representation]) -> None:
        self.directory = directory
        self.representations = {representation.name: representation for representation in representations}

    def bind_to_schema(self, schema: GraphQLSchema) -> None:
        unbound = dict(self.representations)
        for path in sorted(self.directory.glob("*.graphql")):
            fragment = load_fragment(schema, path)
            representation = unbound.pop(fragment.name.value, None)
            kind: Any = schema.type_map[fragment.type_condition.name.value]
            if representation is None or get_projection(kind) is not representation.projection:
                raise ProjectionError(f"{path}: {fragment.name.value} on {kind} belongs to no representation.")
            selection = tuple(collect_selection(kind, fragment.selection_set, path))
            try:
                representation.bind(selection, len(path.read_bytes()))
            except TypeError as error:
                raise ProjectionError(f"{path}: {error}") from None
        if unbound:
            raise ProjectionError(f"{self.directory} has no fragment {', '.join(unbound)}.")


def load_fragment(schema: GraphQLSchema, path: Path) -> FragmentDefinitionNode:
    """Return the fragment of a file. Raises `ProjectionError` unless the file has one valid fragment."""
    try:
        document = parse(Source(path.read_text(), str(path)))
        errors = validate(schema, document, rules=RULES)
    except GraphQLError as error:
        errors = [error]
    if errors:
        raise ProjectionError(f"{path}: {errors[0].message}")
    if len(document.definitions) != 1 or not isinstance(document.definitions[0], FragmentDefinitionNode):
        raise ProjectionError(f"{path} must contain one fragment.")
    return document.definitions[0]


def collect_selection(kind: GraphQLObjectType, selections: SelectionSetNode, path: Path) -> Iterator[SelectedField]:
    """Yield the fields of a selection. Only fields are allowed, so that the file shows the representation."""
    keys: set[str] = set()
    for node in selections.selections:
        if not isinstance(node, FieldNode) or node.directives:
            raise ProjectionError(f"{path}: {kind} must have plain fields only.")
        key = node.alias.value if node.alias else node.name.value
        if key in keys:
            raise ProjectionError(f"{path}: {kind}.{key} is selected twice.")
        keys.add(key)
        field: Any = kind.fields[node.name.value]
        below = cast("GraphQLObjectType", get_named_type(field.type))
        yield SelectedField(
            key,
            node.name.value,
            compile_argument_reader(field, node) if field.args else None,
            tuple(collect_selection(below, node.selection_set, path)) if node.selection_set else (),
        )
