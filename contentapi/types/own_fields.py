"""The own fields of existing types, such as `extend type Post { rating: Int @own(minimum: 1) }`.

An app declares which of its types can have some. The column `own` of their tables has all of them: the value of each
field, as JSON, by its name. The values of a field that leaves the SDL stay in the column.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import models
from graphql import (
    InputObjectTypeDefinitionNode,
    InputObjectTypeExtensionNode,
    ObjectTypeDefinitionNode,
    ObjectTypeExtensionNode,
)

from contentapi.core.errors import ApiError, Invalid
from contentapi.core.pagination import PAGE_PARAMETERS
from contentapi.types import sdl
from contentapi.types.fields import Kind, OwnField, SdlError, convert_to_snake, name_place, write_filter
from contentapi.types.sdl import Files
from contentapi.types.values import convert_value, find_problem

COLUMN = "own"
IN_PYTHON = frozenset({COLUMN, "actor", "changes"})  # parameters of the services
MAY_DECLARE = re.compile(r"(?<!directive )@own\b|\bextend\s+type\s+(?!Query\b|Mutation\b|Subscription\b)")
DECLARED: dict[str, "OwnFields"] = {}
TYPES = (
    ObjectTypeDefinitionNode | ObjectTypeExtensionNode | InputObjectTypeDefinitionNode | InputObjectTypeExtensionNode
)


@dataclass(frozen=True)
class OwnFields:
    """The own fields of a type, by their names in Python.

    `inputs` are the inputs that write them, and `copies` the types that show them too. `filter_input` is the input that
    filters the rows of `table` by them. In openapi.json, `schemas` are the names of objects and bodies, and `lists` the
    paths of lists.
    """

    type_name: str
    fields: Mapping[str, OwnField]
    inputs: Sequence[str] = ()
    copies: Sequence[str] = ()
    filter_input: str = ""
    table: str = ""
    schemas: Sequence[str] = ()
    lists: Sequence[str] = ()

    @cached_property
    def filters(self) -> Mapping[str, OwnField]:
        return {name: field for name, field in self.fields.items() if field.is_filterable}

    @property
    def names(self) -> list[str]:
        return [field.name for field in self.fields.values()]

    def list_changes(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
        """Return the names of the fields that differ between two values of the column."""
        return [name for name in self.names if before.get(name) != after.get(name)]

    def refuse_names(self, names: Iterable[str], what: str) -> None:
        """Raise `SdlError` if a field has one of these names, which have another meaning."""
        taken = {name.lower() for name in names}
        for field in self.fields.values():
            if field.name.lower() in taken:
                raise SdlError(f"{self.type_name}.{field.name}: an own field cannot be named {what}.")

    def refuse_old_names(self, others: Collection[str]) -> None:
        """Raise `SdlError` if the name that a field had before is that of a present field."""
        for field in self.fields.values():
            if field.was in (*others, *self.names):
                raise SdlError(f"{self.type_name}.{field.name}: was names {field.was}, which is a field too.")

    def gather(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return values by their names in Python, with those of own fields together as `own`, by their names."""
        if self.fields.keys().isdisjoint(values):
            return dict(values)
        given = {field.name: values[name] for name, field in self.fields.items() if name in values}
        others = {name: value for name, value in values.items() if name not in self.fields}
        return {**others, COLUMN: {**others.get(COLUMN, {}), **given}}

    def apply(self, stored: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the column has after changes by the names of fields. Null clears a field.

        Raises `Malformed` for a value of another type, and `Invalid` with the names of all fields that break a limit.
        """
        fields = {field.name: field for field in self.fields.values()}
        after, problems = dict(stored), {}
        for name, value in given.items():
            cleaned = value
            if (field := fields.get(name)) and value is not None:
                converted = convert_value(field, value)
                if problem := find_problem(field, converted):
                    problems[name] = [problem]
                cleaned = encode_times(converted)
            if cleaned in (None, []) and not (field and must_store_empty(field, stored)):
                after.pop(name, None)
            else:
                after[name] = cleaned
        if problems:
            raise Invalid(problems)
        return after

    def clear_missing(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Return the changes that make a row have what another row has stored."""
        return {**dict.fromkeys(self.names), **stored}


def build_own_column() -> Any:
    """Return the column of own fields. Its default is a constant: to add it to a long table takes no time."""
    return models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()), blank=True)


def encode_times(value: Any) -> Any:
    if isinstance(value, list):
        return [encode_times(each) for each in value]
    return value.isoformat() if isinstance(value, datetime) else value


def must_store_empty(field: OwnField, stored: Mapping[str, Any]) -> bool:
    """Return whether a row without a value would show another one: that of the old name, or the default."""
    return field.was in stored or (field.default is not None and not field.is_required)


# --- Reading the SDL --------------------------------------------------------------------------------------


def declare_own_fields(type_name: str, **options: Any) -> OwnFields:
    """Return the own fields of a type, and add them to those of the schema. Raises `SdlError`."""
    own = DECLARED[type_name] = read_own_fields(settings.SCHEMA_DIR, OwnFields(type_name, {}, **options))
    return own


@cache
def read_files(folder: Path) -> Files:
    """Return the definitions of the files of a folder; none if no file can declare own fields. Raises `SdlError`."""
    return sdl.read_files(folder, MAY_DECLARE)


def read_own_fields(folder: Path, own: OwnFields) -> OwnFields:
    """Return the own fields of a type with what the files of a folder declare. Raises `SdlError`."""
    files = read_files(folder)
    enums = sdl.collect_enums(files)
    taken = {*list_fields(files, own.type_name, *own.inputs, *own.copies)}
    filters = {*list_fields(files, own.filter_input), *PAGE_PARAMETERS}
    fields: dict[str, OwnField] = {}
    for place, node in iterate_own_nodes(files, own.type_name):
        field = sdl.read_field(node, ("own",), enums, place)
        place, name = f"{place}.{field.name}", convert_to_snake(field.name)
        if field.name in taken or name in IN_PYTHON:
            raise SdlError(f"{place}: the name is taken by {own.type_name} or its inputs.")
        if field.is_filterable and not own.filter_input:
            raise SdlError(f"{place}: {own.type_name} has no filter.")
        if field.is_filterable and field.name in filters:
            raise SdlError(f"{place}: the name is taken by {own.filter_input} or its pages.")
        if name in fields:
            raise SdlError(f"{place}: another own field has this name.")
        fields[name] = check_field(field, place)
    own = replace(own, fields=fields)
    own.refuse_old_names(taken)
    return own


def list_fields(files: Files, *type_names: str) -> Iterator[str]:
    """Yield the names of the fields of types or inputs, and of their extensions, that are no own fields."""
    for _, node in sdl.iterate_nodes(files, TYPES):
        if node.name.value in type_names:
            yield from (field.name.value for field in node.fields or () if not is_own(field))


def iterate_own_nodes(files: Files, type_name: str) -> Iterator[tuple[str, Any]]:
    """Yield the own fields of a type, each with the beginning of messages.

    Raises `SdlError` for another field of an extension.
    """
    for path, node in sdl.iterate_nodes(files, TYPES):
        place = name_place(path, type_name)
        for field in node.fields or () if node.name.value == type_name else ():
            if is_own(field):
                yield place, field
            elif isinstance(node, ObjectTypeExtensionNode):
                raise SdlError(f"{place}.{field.name.value} must have @own, as each field that a team adds.")


def is_own(field: Any) -> bool:
    return sdl.find_directive(field, COLUMN) is not None


def check_field(field: OwnField, place: str) -> OwnField:
    """Return a field that can be an own field, with its default as it is stored. Raises `SdlError`."""
    if field.kind == Kind.RELATION:
        raise SdlError(f"{place}: an own field cannot have the type {field.type_name}.")
    if field.is_required and field.default is None:
        raise SdlError(f"{place} needs @own(default:), because rows exist already, or a type without !.")
    if field.default is None:
        return field
    try:
        default = convert_value(field, field.default)
    except ApiError as error:
        raise SdlError(f"{place}: the default does not fit the type. {error.message}") from None
    if problem := find_problem(field, default):
        raise SdlError(f"{place}: the default breaks a limit. {problem}")
    return replace(field, default=encode_times(default))


# --- What the SDL has beside the files --------------------------------------------------------------------


def extend_sdl() -> list[str]:
    """Return the SDL of the inputs and the other types that have the own fields.

    Raises `SdlError` for an own field of a type that cannot have any.
    """
    for path, node in sdl.iterate_nodes(read_files(settings.SCHEMA_DIR), TYPES):
        if node.name.value not in DECLARED and any(map(is_own, node.fields or ())):
            raise SdlError(f"{name_place(path, node.name.value)} cannot have own fields.")
    return [part for own in DECLARED.values() if own.fields for part in build_extensions(own)]


def build_extensions(own: OwnFields) -> Iterator[str]:
    """Yield the extensions of types that own fields make.

    extend input CreatePostInput { "A line under the title." subtitle: String }
    """
    inputs = [field.write_input() for field in own.fields.values()]
    shown = [f"{field.write_input()}{'!' * field.is_never_null}" for field in own.fields.values()]
    yield from (f"extend type {name} {{ {' '.join(shown)} }}" for name in own.copies)
    yield from (f"extend input {name} {{ {' '.join(inputs)} }}" for name in own.inputs)
    if own.filters:
        filters = [write_filter(field.name, field) for field in own.filters.values()]
        yield f"extend input {own.filter_input} {{ {' '.join(filters)} }}"


def list_added_fields() -> dict[str, list[str]]:
    """Return the names of the own fields that representations show, by the names of types."""
    return {name: own.names for own in DECLARED.values() for name in (own.type_name, *own.copies) if own.fields}
