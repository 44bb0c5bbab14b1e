"""Where the model and the inputs of an own type differ from its SDL: the server does not start then."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.apps import apps
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.checks import Error
from django.db import models
from django.db.models import Q
from graphql import InputObjectTypeDefinitionNode

from contentapi.types.columns import (
    PUBLICATION,
    fold,
    list_audience,
    list_event_columns,
    list_rules,
    write_column,
    write_constraint,
)
from contentapi.types.declared import list_models, load_own_types
from contentapi.types.fields import Kind, OwnField, OwnType, SdlError
from contentapi.types.sdl import read_definitions
from contentapi.types.triggers import announce_rows

TEXTS = (models.CharField, models.TextField)
STANDARD = {"id", "published_at", "publication_order", "created_at", "updated_at", "version"}


class Difference(NamedTuple):
    """What differs, as a sentence, and the lines of code that the file lacks."""

    message: str
    file: str = ""
    lines: Sequence[str] = ()


def list_differences(own: OwnType) -> Iterator[Difference]:
    """Yield the differences between the SDL of a type and its model."""
    try:
        model = apps.get_model(own.app, own.name)
    except LookupError:
        yield Difference(f"{own.place} has no table: run manage.py start_type {own.name}.")
        return
    yield from list_column_differences(own, model)
    yield from list_rule_differences(own, model)
    yield from list_trigger_differences(own, model)


def list_column_differences(own: OwnType, model: type[models.Model]) -> Iterator[Difference]:
    file, labels = f"{own.app}/models.py", list_models(load_own_types(), settings.RELATED_TYPES)
    columns: dict[str, Any] = {column.name: column for column in model._meta.concrete_fields}
    for field in own.fields:
        if not is_same(field, columns.pop(field.column, None), labels):
            message = f"{own.place}.{field.name} differs from {file}: manage.py start_type {own.name} --diff shows it."
            yield Difference(message, file, [*fold(write_column(field, labels))])
    yield from list_publication_differences(own, file, columns)
    yield from list_columns_without_field(own, file, columns)


def list_publication_differences(own: OwnType, file: str, columns: Mapping[str, Any]) -> Iterator[Difference]:
    if own.has_publication and "publication_order" not in columns:
        yield Difference(f"{own.place}.publishedAt: {file} lacks the columns of a publication.", file, PUBLICATION)


def list_columns_without_field(own: OwnType, file: str, columns: Mapping[str, Any]) -> Iterator[Difference]:
    for name, column in columns.items():
        if name not in STANDARD and not column.null and not column.has_default():
            yield Difference(f"{own.place} has no field for the column {name} of {file}, which needs a value.", file)


def list_rule_differences(own: OwnType, model: type[models.Model]) -> Iterator[Difference]:
    file = f"{own.app}/models.py"
    conditions = {each.name: getattr(each, "condition", None) for each in model._meta.constraints}
    for name, field, lookups in list_rules(own):
        if conditions.get(name) != Q(**lookups):
            message = f"{own.place}.{field.name}: {file} differs in the constraint {name}."
            yield Difference(message, file, [*fold(write_constraint(name, field, lookups))])


def list_trigger_differences(own: OwnType, model: type[models.Model]) -> Iterator[Difference]:
    """Yield that the triggers were made for another `read` or `publication`: events would have another audience."""
    flags = list_audience(own)
    expected = announce_rows(own.name.lower(), [], **flags)
    created, deleted = (each.func for each in expected if each.name != "announce_updated")
    present = {each.name: each.func for each in getattr(model._meta, "triggers", ())}
    if (present.get("announce_created", created), present.get("announce_deleted", deleted)) != (created, deleted):
        file = f"{own.app}/models.py"
        lines = [f"{name}={value}," for name, value in flags.items()]
        yield Difference(f"{own.place}: the triggers of {file} have another read or publication.", file, lines)


def is_same(field: OwnField, column: Any, labels: Mapping[str, str]) -> bool:
    """Return whether a column stores the values of a field, and no others by its type."""
    if column is None or isinstance(column, ArrayField) is not field.is_list or column.null is field.is_never_null:
        return False
    return is_same_item(field, column.base_field if field.is_list else column, labels)


def is_same_item(field: OwnField, item: Any, labels: Mapping[str, str]) -> bool:
    """Return whether a column, or that of the items of a list, has the type and the limits of a field."""
    if not isinstance(item, TEXTS if field.kind == Kind.TEXT else field.column_class):
        return False
    if field.kind == Kind.TEXT:
        return item.max_length in (None, field.max_length)
    if field.kind == Kind.RELATION and not field.is_list:
        return get_label(item) == labels[field.type_name]
    return not field.values or tuple(value for value, _ in item.choices or ()) == field.values


def get_label(key: Any) -> str:
    return str(key.related_model._meta.label)


def list_missing_inputs(own: OwnType) -> Iterator[Difference]:
    """Yield the members that the inputs of a type lack."""
    present = read_inputs(own)
    for name, members in own.write_inputs().items():
        for member in sorted(members.keys() - present.get(name, set())):
            place = f"{own.file_name}, {name}"
            yield Difference(f"{own.place}: {name} has no {member}.", place, [f"  {members[member]}"])


def read_inputs(own: OwnType) -> dict[str, set[str]]:
    """Return the names of the members of each input in the file of a type."""
    inputs = [node for node in read_definitions(own.file) if isinstance(node, InputObjectTypeDefinitionNode)]
    return {node.name.value: {member.name.value for member in node.fields or ()} for node in inputs}


def require_known_members(own: OwnType, name: str) -> None:
    """Raise `SdlError` if an input has a member that is no field of the type: no write could store its value."""
    known = {*own.write_inputs()[name], "id", "expectedVersion"}
    for member in sorted(read_inputs(own).get(name, set()) - known):
        raise SdlError(f"{own.place}: {name} has the member {member}, and {own.name} has no such field.")


def list_missing_events(own: OwnType, code: str) -> Iterator[Difference]:
    """Yield the columns that the triggers lack in the code of the model."""
    triggers = code.partition("announce_rows(")[2]
    missing = [f'"{name}"' for name in list_event_columns(own) if f'"{name}"' not in triggers]
    if triggers and missing:
        names = ", ".join(missing)
        yield Difference(
            f"{own.place}: the triggers lack {names}.", f"{own.app}/models.py, triggers", [f"    {names},"]
        )


def check_own_types(**_: Any) -> list[Error]:
    """Check that each own type has a table with the columns of its SDL."""
    try:
        found = [difference.message for own in load_own_types() for difference in list_differences(own)]
    except SdlError as error:
        found = [str(error)]
    return [Error(message, id="contentapi.own_types") for message in found]


def require_equal_models() -> None:
    """Raise `SdlError` for the first difference. The schema calls this before it is built."""
    for own in load_own_types():
        for difference in list_differences(own):
            raise SdlError(difference.message)
