"""What a team declares in the SDL: an own type, and the fields of own types and of others, with their limits."""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from ariadne import convert_camel_case_to_snake
from graphql import (
    DirectiveNode,
    EnumTypeDefinitionNode,
    FieldDefinitionNode,
    ListTypeNode,
    NamedTypeNode,
    NonNullTypeNode,
    TypeNode,
    value_from_ast_untyped,
)

MAX_TEXT = 1000  # characters of a text without `maxLength`
MAX_ITEMS = 100  # of a list
MAX_LENGTH = 1_000_000
LARGEST_INT = 2**31 - 1
FIELD_NAME = re.compile(r"[a-z][A-Za-z0-9]*")

convert_to_snake = convert_camel_case_to_snake  # also of names of columns: resolvers get the inputs by these names


class SdlError(Exception):
    """A declaration that cannot be carried out: one sentence with the file, the type and the field."""


class Kind(StrEnum):
    """What the values of a field are. The first five are scalars of GraphQL."""

    TEXT = "String"
    INT = "Int"
    FLOAT = "Float"
    BOOLEAN = "Boolean"
    TIME = "DateTime"
    ENUM = "enum"
    RELATION = "relation"


NUMBERS = (Kind.INT, Kind.FLOAT)
SCALARS = {kind.value: kind for kind in Kind if kind not in (Kind.ENUM, Kind.RELATION)}
# The arguments of the directives, and the kinds that they fit. `maxItems` fits lists.
KINDS_OF_ARGUMENT: Mapping[str, Sequence[Kind]] = {
    "maxLength": (Kind.TEXT,),
    "minimum": NUMBERS,
    "maximum": NUMBERS,
    "sort": (Kind.TEXT, *NUMBERS),
    "default": tuple(Kind),
    "was": tuple(Kind),
    "filter": tuple(Kind),
}
ARGUMENTS = {
    "text": ("maxLength", "sort"),
    "number": ("minimum", "maximum", "sort"),
    "own": ("maxLength", "minimum", "maximum", "maxItems", "default", "was", "filter"),
}
TYPES_OF_ARGUMENTS: Mapping[str, type | tuple[type, ...]] = {
    "maxLength": int,
    "maxItems": int,
    "minimum": (int, float),
    "maximum": (int, float),
    "sort": bool,
    "filter": bool,
    "was": str,
}


@dataclass(frozen=True, kw_only=True)
class OwnField:
    """A field with its limits. `max_length` is that of a text or of each text of a list, in characters.

    `name` is the name in the API, and `column` that of the model: `cover` of the relation `cover`, whose value in
    inputs is `coverId`; `related_ids` of a list of relations. A list is never required: it is empty without a value.
    `values` are those of an enum. `default`, `was` and `is_filterable` are arguments of `@own`.
    """

    name: str
    type_name: str
    kind: Kind
    is_list: bool = False
    is_required: bool = False
    max_length: int = MAX_TEXT
    minimum: float | None = None
    maximum: float | None = None
    max_items: int = MAX_ITEMS
    is_sortable: bool = False
    values: tuple[str, ...] = ()
    description: str = ""
    default: Any = None
    was: str = ""
    is_filterable: bool = False

    @property
    def column(self) -> str:
        return self.input_column if self.is_list else convert_to_snake(self.name)

    @property
    def input_name(self) -> str:
        """The name in inputs and bodies: `coverId` and `relatedIds` for relations."""
        suffix = ("Ids" if self.is_list else "Id") if self.kind == Kind.RELATION else ""
        return self.name + suffix

    @property
    def input_column(self) -> str:
        """The name in services: `cover_id` and `related_ids` for relations."""
        return convert_to_snake(self.input_name)


@dataclass(frozen=True, kw_only=True)
class OwnType:
    """A type with its own fields, `author` among them: not `id`, the times of the row, and `version`.

    `read` is one of `READERS`, `write` one of `WRITERS`. With `has_publication`, rows with `publishedAt` are public.
    """

    name: str
    plural: str
    app: str
    file: Path
    read: str
    write: str
    has_publication: bool
    description: str
    fields: Sequence[OwnField]

    @property
    def singular(self) -> str:
        """The name of the root field: `recipe`."""
        return self.name[0].lower() + self.name[1:]

    @property
    def path(self) -> str:
        """The path of the collection, without slash: `recipe-books`. The scopes begin with it."""
        return re.sub(r"(?<!^)(?=[A-Z])", "-", self.plural).lower()

    @property
    def place(self) -> str:
        """The beginning of messages: `schema/recipes.graphql: Recipe`."""
        return name_place(self.file, self.name)

    @property
    def relations(self) -> list[OwnField]:
        return [field for field in self.fields if field.kind == Kind.RELATION]

    def find_field(self, name: str) -> OwnField | None:
        return next((field for field in self.fields if field.name == name), None)


def name_place(path: Path, name: str) -> str:
    return f"{path.parent.name}/{path.name}: {name}"


def read_field(
    node: FieldDefinitionNode, directives: Sequence[str], enums: Mapping[str, EnumTypeDefinitionNode], place: str
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
    values = tuple(value.name.value for value in enums[type_name].values or ()) if type_name in enums else ()
    kind = SCALARS.get(type_name) or (Kind.ENUM if values else Kind.RELATION)
    arguments: dict[str, Any] = {}
    for directive in node.directives or ():
        if directive.name.value not in (*directives, "cost", "listSize", "deprecated"):
            raise SdlError(f"{place} must not have @{directive.name.value}.")
        if directive.name.value in directives:
            arguments |= read_arguments(directive, kind, place, is_list=is_list)
    if arguments.get("sort") and not is_required:
        raise SdlError(f"{place}: sort needs a field that is not null.")
    return OwnField(
        name=name,
        type_name=type_name,
        kind=kind,
        is_list=is_list,
        is_required=is_required,
        max_length=arguments.get("maxLength", MAX_TEXT),
        minimum=arguments.get("minimum"),
        maximum=arguments.get("maximum"),
        max_items=arguments.get("maxItems", MAX_ITEMS),
        is_sortable=arguments.get("sort", False),
        values=values,
        description=node.description.value if node.description else "",
        default=arguments.get("default"),
        was=arguments.get("was", ""),
        is_filterable=arguments.get("filter", False),
    )


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


def read_arguments(directive: DirectiveNode, kind: Kind, place: str, *, is_list: bool) -> dict[str, Any]:
    """Return the arguments of a directive. Raises `SdlError` for those that are unknown, or do not fit the field."""
    name = directive.name.value
    if name in ("text", "number") and kind not in (NUMBERS if name == "number" else (Kind.TEXT,)):
        raise SdlError(f"{place}: @{name} does not fit the type of the field.")
    found = read_given_arguments(directive)
    for argument, value in found.items():
        require_argument(name, argument, value, place)
        if not is_fit(argument, kind, is_list=is_list):
            raise SdlError(f"{place}: {argument} does not fit the type of the field.")
    require_possible_limits(found, kind, place)
    return found


def is_fit(argument: str, kind: Kind, *, is_list: bool) -> bool:
    if argument == "maxItems":
        return is_list
    return kind in KINDS_OF_ARGUMENT[argument] and not (is_list and argument in ("sort", "default"))


def read_given_arguments(directive: DirectiveNode) -> dict[str, Any]:
    return {each.name.value: value_from_ast_untyped(each.value) for each in directive.arguments or ()}


def require_argument(directive: str, name: str, value: Any, place: str) -> None:
    """Raise `SdlError` if the directive has no argument with this name, or if the value has another type."""
    if name not in ARGUMENTS[directive]:
        raise SdlError(f"{place}: @{directive} has no argument {name}.")
    expected = TYPES_OF_ARGUMENTS.get(name)
    if expected and (not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool)):
        raise SdlError(f"{place}: the argument {name} of @{directive} must not be {value!r}.")


def require_possible_limits(found: Mapping[str, Any], kind: Kind, place: str) -> None:
    """Raise `SdlError` for limits that no value meets, or that no column can check."""
    for name, most in (("maxLength", MAX_LENGTH), ("maxItems", MAX_ITEMS)):
        if not 1 <= found.get(name, 1) <= most:
            raise SdlError(f"{place}: {name} must be from 1 to {most:,}.")
    limits = [found[name] for name in ("minimum", "maximum") if found.get(name) is not None]
    require_possible_range(limits, kind, place)


def require_possible_range(limits: Sequence[float], kind: Kind, place: str) -> None:
    if not all(abs(limit) <= sys.float_info.max for limit in limits):  # an integer can be larger than each float
        raise SdlError(f"{place}: the limits must be finite numbers.")
    if kind == Kind.INT and any(limit != int(limit) or abs(limit) > LARGEST_INT for limit in limits):
        raise SdlError(f"{place}: the limits of an Int are whole numbers of 32 bits.")
    if len(limits) > 1 and limits[0] > limits[1]:
        raise SdlError(f"{place}: minimum is greater than maximum.")
