"""Bind the representations of resources to their GraphQL fragments in schema/resources/."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from ariadne import SchemaBindable
from graphql import (
    DocumentNode,
    ExecutableDefinitionsRule,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLObjectType,
    GraphQLSchema,
    NoUnusedFragmentsRule,
    SelectionNode,
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

EXTENSION = "representation"  # the key among the extensions of a GraphQL type
RULES = [rule for rule in specified_rules if rule not in (NoUnusedFragmentsRule, ExecutableDefinitionsRule)]


class RepresentationFragments(SchemaBindable):
    """The representations, as an Ariadne bindable. Raises `ProjectionError`, with the file, if one does not match."""

    def __init__(self, directory: Path, representations: Sequence[Representation]) -> None:
        self.directory = directory
        self.representations = {representation.name: representation for representation in representations}

    def bind_to_schema(self, schema: GraphQLSchema) -> None:
        unbound = dict(self.representations)
        fragments = load_fragments(schema, self.directory)
        spreadable = {fragment.name.value: fragment.selection_set for fragment in fragments.values()}
        for path, fragment in fragments.items():
            representation = unbound.pop(fragment.name.value, None)
            kind: Any = schema.type_map[fragment.type_condition.name.value]
            if representation is None or get_projection(kind) is not representation.projection:
                raise ProjectionError(f"{path}: {fragment.name.value} on {kind} belongs to no representation.")
            selection = tuple(collect_selection(kind, fragment.selection_set, spreadable, path))
            kind.extensions[EXTENSION] = representation
            try:
                representation.bind(schema, kind, selection, len(path.read_bytes()))
            except TypeError as error:
                raise ProjectionError(f"{path}: {error}") from None
        if unbound:
            raise ProjectionError(f"{self.directory} has no fragment {', '.join(unbound)}.")


def load_fragments(schema: GraphQLSchema, directory: Path) -> dict[Path, FragmentDefinitionNode]:
    """Return the fragment of each file. Raises `ProjectionError` unless each file has one, and all are valid."""
    found: dict[Path, FragmentDefinitionNode] = {}
    for path in sorted(directory.glob("*.graphql")):
        try:
            definitions = parse(Source(path.read_text(), str(path))).definitions
        except GraphQLError as error:
            raise ProjectionError(f"{path}: {error.message}") from None
        if len(definitions) != 1 or not isinstance(definitions[0], FragmentDefinitionNode):
            raise ProjectionError(f"{path} must contain one fragment.")
        found[path] = definitions[0]
    problems = validate(schema, DocumentNode(definitions=tuple(found.values())), rules=RULES)
    if problems:
        source = problems[0].source
        raise ProjectionError(f"{source.name if source else directory}: {problems[0].message}")
    return found


def collect_selection(
    kind: GraphQLObjectType, selections: SelectionSetNode, fragments: Mapping[str, SelectionSetNode], path: Path
) -> Iterator[SelectedField]:
    """Yield the fields of a selection, and those of the fragments that it spreads. The file shows the representation:
    it may have no directives.
    """
    keys: set[str] = set()
    for node in expand_spreads(selections, fragments):
        if not isinstance(node, FieldNode) or node.directives:
            raise ProjectionError(f"{path}: {kind} must have plain fields and fragments only.")
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
            tuple(collect_selection(below, node.selection_set, fragments, path)) if node.selection_set else (),
        )


def expand_spreads(selections: SelectionSetNode, fragments: Mapping[str, SelectionSetNode]) -> Iterator[SelectionNode]:
    for node in selections.selections:
        if isinstance(node, FragmentSpreadNode) and not node.directives:
            yield from expand_spreads(fragments[node.name.value], fragments)
        else:
            yield node
