"""Read the files of schema/, and the fields in them with their limits."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphql import (
    DefinitionNode,
    DirectiveNode,
    DocumentNode,
    EnumTypeDefinitionNode,
    FieldDefinitionNode,
    GraphQLSyntaxError,
    KnownArgumentNamesRule,
    KnownDirectivesRule,
    KnownTypeNamesRule,
    ListTypeNode,
    NamedTypeNode,
    NonNullTypeNode,
    ProvidedRequiredArgumentsRule,
    Source,
    TypeNode,
    build_ast_schema,
    build_schema,
    parse,
    validate,
    validate_schema,
    value_from_ast_untyped,
)

from contentapi.types.fields import (
    ARGUMENTS,
    FIELD_NAME,
    KINDS_OF_DIRECTIVE,
    LARGEST_INT,
    MAX_ITEMS,
    MAX_LENGTH,
    SCALARS,
    Kind,
    OwnField,
    OwnType,
    SdlError,
    name_place,
)

INTERFACE = re.compile(r"^interface Event {\n(.*?)^}", re.DOTALL | re.MULTILINE)
Files = Mapping[Path, Sequence[DefinitionNode]]
RULES = [KnownDirectivesRule, KnownArgumentNamesRule, ProvidedRequiredArgumentsRule, KnownTypeNamesRule]
OTHER_DIRECTIVES = ("cost", "listSize", "deprecated")


def read_files(folder: Path, declaration: re.Pattern[str]) -> Files:
    """Return the definitions of the files of a folder; none if the declaration is in no file. Raises `SdlError`."""
    paths = sorted(folder.glob("*.graphql"))
    if not any(declaration.search(path.read_text("utf-8")) for path in paths):
        return {}
    return {path: read_definitions(path) for path in paths}


def read_definitions(path: Path) -> Sequence[DefinitionNode]:
    try:
        return parse(path.read_text("utf-8"), no_location=True).definitions
    except GraphQLSyntaxError as error:
        raise SdlError(f"{path.parent.name}/{path.name} is not SDL: {error.message}") from None


def iterate_nodes(files: Files, kinds: Any) -> Iterator[tuple[Path, Any]]:
    """Yield the definitions of some classes, each with its file."""
    return ((path, node) for path, nodes in files.items() for node in nodes if isinstance(node, kinds))


def collect_enums(files: Files) -> dict[str, tuple[str, ...]]:
    """Return the values of the enums, by their names."""
    nodes = iterate_nodes(files, EnumTypeDefinitionNode)
    return {node.name.value: tuple(value.name.value for value in node.values or ()) for _, node in nodes}


def find_directive(node: Any, name: str) -> DirectiveNode | None:
    return next((directive for directive in node.directives or () if directive.name.value == name), None)


def read_description(node: Any) -> str:
    return node.description.value if node.description else ""


def read_field(
    node: FieldDefinitionNode, directives: Sequence[str], enums: Mapping[str, tuple[str, ...]], place: str
) -> OwnField:
    """Return a field of the SDL. A type that is neither a scalar nor an enum is a relation, whether or not it exists.

    `directives` are those that give the field's limits. `place` begins the messages: `schema/recipes.graphql: Recipe`.
    Raises `SdlError`.
    """
    name = node.name.value
    place = f"{place}.{name}"
    if not FIELD_NAME.fullmatch(name):
        raise SdlError(f"{place} must be named like publishedAt.")
    if node.arguments:
        raise SdlError(f"{place} must not have arguments.")
    type_name, is_list, is_required = read_type(node.type, place)
    values = enums.get(type_name, ())
    field = OwnField(
        name=name,
        type_name=type_name,
        kind=SCALARS.get(type_name) or (Kind.ENUM if values else Kind.RELATION),
        is_list=is_list,
        is_required=is_required,
        values=values,
        description=read_description(node),
    )
    return read_limits(field, node.directives or (), directives, place)


def read_type(node: TypeNode, place: str) -> tuple[str, bool, bool]:
    """Return the name of a field's type, whether it is a list, and whether a value is required."""
    match node:
        case NamedTypeNode():
            return node.name.value, False, False
        case NonNullTypeNode(type=NamedTypeNode(name=name)):
            return name.value, False, True
        case NonNullTypeNode(type=ListTypeNode(type=NonNullTypeNode(type=NamedTypeNode(name=name)))):
            return name.value, True, False
        case _:
            raise SdlError(f"{place} is a list that can be null or contain null: write it like [String!]!.")


def read_limits(field: OwnField, nodes: Sequence[DirectiveNode], directives: Sequence[str], place: str) -> OwnField:
    """Return a field with what its directives say. Raises `SdlError` for what is unknown, or does not fit the field."""
    found: dict[str, Any] = {}
    for node in nodes:
        name = node.name.value
        if name not in (*directives, *OTHER_DIRECTIVES):
            raise SdlError(f"{place} must not have @{name}.")
        if name in directives:
            found |= read_arguments(node, field, place)
    require_possible_limits(found, field.kind, place)
    if found.get("sort") and not field.is_required:
        raise SdlError(f"{place}: sort needs a field that is not null.")
    return replace(field, **{ARGUMENTS[name].attribute: value for name, value in found.items()})


def read_arguments(directive: DirectiveNode, field: OwnField, place: str) -> dict[str, Any]:
    """Return the arguments of a directive. Raises `SdlError` for those that are unknown, or do not fit the field."""
    name = directive.name.value
    if field.kind not in KINDS_OF_DIRECTIVE[name]:
        raise SdlError(f"{place}: @{name} does not fit the type of the field.")
    found = read_given_arguments(directive)
    for argument, value in found.items():
        require_argument(name, argument, value, place)
        if field.kind not in ARGUMENTS[argument].kinds or field.is_list not in ARGUMENTS[argument].on_lists:
            raise SdlError(f"{place}: {argument} does not fit the type of the field.")
    return found


def require_argument(directive: str, name: str, value: Any, place: str) -> None:
    """Raise `SdlError` if the directive has no argument with this name, or if the value has another type."""
    argument = ARGUMENTS.get(name)
    if argument is None or directive not in argument.directives:
        raise SdlError(f"{place}: @{directive} has no argument {name}.")
    if argument.types and type(value) not in argument.types:
        raise SdlError(f"{place}: the argument {name} of @{directive} must not be {value!r}.")


def read_given_arguments(directive: DirectiveNode | None) -> dict[str, Any]:
    given = directive.arguments if directive else ()
    return {each.name.value: value_from_ast_untyped(each.value) for each in given or ()}


def require_possible_limits(found: Mapping[str, Any], kind: Kind, place: str) -> None:
    """Raise `SdlError` for limits that no value meets, or that no column can check."""
    for name, most in (("maxLength", MAX_LENGTH), ("maxItems", MAX_ITEMS)):
        if not 1 <= found.get(name, 1) <= most:
            raise SdlError(f"{place}: {name} must be from 1 to {most:,}.")
    require_possible_range([found[name] for name in ("minimum", "maximum") if name in found], kind, place)


def require_possible_range(limits: Sequence[float], kind: Kind, place: str) -> None:
    if not all(abs(limit) <= sys.float_info.max for limit in limits):  # an integer can be larger than each float
        raise SdlError(f"{place}: the limits must be finite numbers.")
    if kind == Kind.INT and any(limit != int(limit) or abs(limit) > LARGEST_INT for limit in limits):
        raise SdlError(f"{place}: the limits of an Int are whole numbers of 32 bits.")
    if len(limits) > 1 and limits[0] > limits[1]:
        raise SdlError(f"{place}: minimum is greater than maximum.")


def require_valid_sdl(folder: Path) -> None:
    """Raise `SdlError`, with file, type and field, for what breaks a rule of GraphQL in the files of a folder."""
    sources = [Source(path.read_text("utf-8"), name_place(path, "")) for path in sorted(folder.glob("*.graphql"))]
    document = DocumentNode(definitions=tuple(node for source in sources for node in parse(source).definitions))
    errors = validate(build_schema("type Query { id: ID }"), document, RULES)
    for error in errors or validate_schema(build_ast_schema(document)):
        raise SdlError(f"{name_field(document, error.nodes)}{error.message}")


def name_field(document: DocumentNode, nodes: Sequence[Any] | None) -> str:
    """Return the beginning of a message about the first of some nodes: its file, its type and its field."""
    if not nodes:
        return ""
    where = nodes[0].loc
    parts: list[Any] = [
        part for node in document.definitions for part in (node, *(getattr(node, "fields", None) or ()))
    ]
    around = [
        part for part in parts if part.loc.source is where.source and part.loc.start <= where.start < part.loc.end
    ]
    return f"{where.source.name}{'.'.join(part.name.value for part in around)}: "


def write_event_type(own: OwnType, sdl: str) -> str:
    """Return the type of the events of an own type. `sdl` has the interface `Event`, whose fields the type has too."""
    found = INTERFACE.search(sdl)
    fields = found[1] if found else ""
    name, noun = own.name, own.noun
    field = f'  "The {noun} as it is now; null if you may not see it."\n  {name.lower()}: {name}\n'
    return f'"Something that happened to {own.a_noun}."\ntype {name}Event implements Event {{\n{fields}{field}}}\n'
