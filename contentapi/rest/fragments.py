"""Bind the representations of resources to their GraphQL fragments in schema/resources/."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ariadne import SchemaBindable
from graphql import (
    DocumentNode,
    ExecutableDefinitionsRule,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLSchema,
    NameNode,
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
    """The representations, as an Ariadne bindable, with `added` fields by the names of their types."""

    def __init__(
        self, directory: Path, representations: Sequence[Representation], added: Mapping[str, Sequence[str]] = {}
    ) -> None:
        self.directory, self.added = directory, added
        self.representations = {representation.name: representation for representation in representations}

    def bind_to_schema(self, schema: GraphQLSchema) -> None:
        fragments: dict[str, FragmentDefinitionNode] = {}
        found_files = load_fragments(schema, self.directory, self.added)
        for path, fragment in found_files.items():
            name, kind = fragment.name.value, fragment.type_condition.name.value
            found = self.representations.get(name)
            if found is None or get_projection(schema.type_map[kind]) is not found.projection:
                raise ProjectionError(f"{path}: {name} on {kind} belongs to no representation.")
            fragments[name] = fragment
            found.size = len(path.read_bytes())
        for name, representation in self.representations.items():
            if name not in fragments:
                raise ProjectionError(f"{self.directory} has no fragment {name}.")
            bind_representation(representation, schema, fragments)


def add_fields(fragment: FragmentDefinitionNode, added: Mapping[str, Sequence[str]]) -> FragmentDefinitionNode:
    """Return the fragment with the further fields of its type."""
    names = added.get(fragment.type_condition.name.value, ())
    nodes = tuple(FieldNode(name=NameNode(value=name)) for name in names)
    selections = fragment.selection_set.selections
    return replace(fragment, selection_set=SelectionSetNode(selections=(*selections, *nodes)))


def bind_representation(
    found: Representation, schema: GraphQLSchema, fragments: Mapping[str, FragmentDefinitionNode]
) -> None:
    kind: Any = schema.type_map[found.projection.name]
    found.schema, found.kind, found.fragments = schema, kind, fragments
    found.selection = collect_selection(kind, [fragments[found.name].selection_set], fragments)
    found.is_plain = found.represent is None and not has_optional(found.selection)


def load_fragments(
    schema: GraphQLSchema, directory: Path, added: Mapping[str, Sequence[str]]
) -> dict[Path, FragmentDefinitionNode]:
    """Return the fragment of each file. Raises `ProjectionError`, with the file, unless each has one that is valid."""
    found: dict[Path, FragmentDefinitionNode] = {}
    for path in sorted(directory.glob("*.graphql")):
        try:
            text = path.read_text()
            definitions = parse(Source(text, str(path))).definitions
        except GraphQLError as error:
            raise ProjectionError(f"{path}: {error.message}") from None
        if len(definitions) != 1 or not isinstance(definitions[0], FragmentDefinitionNode) or "@" in text:
            raise ProjectionError(f"{path} must contain one fragment, without directives.")
        found[path] = add_fields(definitions[0], added)
    problems = validate(schema, DocumentNode(definitions=tuple(found.values())), rules=RULES)
    if problems:
        source = problems[0].source
        raise ProjectionError(f"{source.name if source else directory}: {problems[0].message}")
    return found


def collect_selection(
    kind: Any, selections: Iterable[SelectionSetNode], fragments: Mapping[str, FragmentDefinitionNode]
) -> tuple[SelectedField, ...]:
    """Return the fields of selections and of the fragments that they spread. Those with equal keys are merged."""
    found: dict[str, list[FieldNode]] = {}
    for node in iterate_fields(selections, fragments):
        found.setdefault(node.alias.value if node.alias else node.name.value, []).append(node)
    selected = []
    for key, nodes in found.items():
        if key.endswith("_") and key[:-1] in found:
            continue
        name = nodes[0].name.value
        field = kind.fields[name]
        read_arguments = compile_argument_reader(field, nodes[0]) if field.args else None
        inner = [node.selection_set for node in nodes if node.selection_set]
        below = collect_selection(get_named_type(field.type), inner, fragments)
        selected.append(SelectedField(key, name, read_arguments, below))
    return tuple(selected)


def iterate_fields(
    selections: Iterable[SelectionSetNode], fragments: Mapping[str, FragmentDefinitionNode]
) -> Iterator[FieldNode]:
    for node in [each for selection in selections for each in selection.selections]:
        if isinstance(node, FieldNode):
            yield node
        elif isinstance(node, FragmentSpreadNode):
            yield from iterate_fields([fragments[node.name.value].selection_set], fragments)


def has_optional(selection: Iterable[SelectedField]) -> bool:
    return any(each.key.endswith("_") or has_optional(each.selection) for each in selection)
