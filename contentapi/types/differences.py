"""Where the model and the inputs of an own type differ from its SDL: the server does not start then."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.core.checks import Error
from django.db import models
from django.db.models import Q
from graphql import parse

from contentapi.types.columns import list_audience, list_event_names, list_indexes, list_rules
from contentapi.types.declared import Related, load_own_types, load_targets
from contentapi.types.fields import Kind, OwnField, OwnType, SdlError, convert_to_snake
from contentapi.types.generation import render, write_models, write_sdl
from contentapi.types.sdl import read_definitions
from contentapi.types.triggers import announce_rows

TEXTS = (models.CharField, models.TextField)
STANDARD = {"id", "published_at", "publication_order", "created_at", "updated_at", "version"}


class Difference(NamedTuple):
    """What differs, as a sentence, and the lines that the file lacks."""

    message: str
    file: str
    lines: Sequence[str] = ()


def list_differences(own: OwnType, *, is_complete: bool = False) -> Iterator[Difference]:
    """Yield the differences between the SDL of a type and its code: those that prevent the start, or all."""
    try:
        model = apps.get_model(own.app, own.name)
    except LookupError:
        yield describe_difference(own, f" has no table: run manage.py start_type {own.name}.")
        if not is_complete:
            return
    else:
        yield from list_column_differences(own, model)
        yield from list_rule_differences(own, model)
        yield from list_index_differences(own, model)
        yield from list_trigger_differences(own, model)
        yield from list_event_differences(own, model) if is_complete else ()
    # The others are decisions of the team: without its resolver or its value, one of these breaks the start anyway
    bound = tuple(f", {name}" for name in ("Query", "Mutation", f"{own.name}SortField"))
    yield from (each for each in list_missing_members(own) if is_complete or each.file.endswith(bound))


def describe_difference(own: OwnType, what: str, *names: str) -> Difference:
    """Return a difference of the model with those lines of the code with these names that its file lacks."""
    code, file = write_models(own, load_targets()) if names else "", own.file.parents[1] / own.app / "models.py"
    present = file.read_text("utf-8") if file.exists() else ""
    found = [find_lines(code, name) for name in names]
    missing = [line for lines in found if "\n".join(lines) not in present for line in lines]
    return Difference(f"{own.place}{what}", f"{own.app}/models.py", missing)


def find_lines(code: str, name: str) -> list[str]:
    """Return the lines of the assignment to a name, or of the call that gives an object its name."""
    lines = code.split("\n")
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Assign(targets=[ast.Name(id=found)]) if found == name:
                return lines[node.lineno - 1 : node.end_lineno]
            case ast.Call(keywords=[*_, ast.keyword(arg="name", value=ast.Constant(value=found))]) if found == name:
                return lines[node.lineno - 1 : node.end_lineno]
    raise LookupError(name)


def list_column_differences(own: OwnType, model: type[models.Model]) -> Iterator[Difference]:
    columns: dict[str, Any] = {column.name: column for column in model._meta.concrete_fields}
    targets = load_targets()
    for field in own.fields:
        if not is_same(field, columns.pop(field.column, None), targets):
            place = f".{field.name} differs from {own.app}/models.py"
            message = f"{place}: manage.py start_type {own.name} --diff shows it."
            yield describe_difference(own, message, *map(str.upper, field.values), field.column)
    yield from list_other_column_differences(own, columns)


def list_other_column_differences(own: OwnType, columns: Mapping[str, Any]) -> Iterator[Difference]:
    """Yield the columns of a publication that are missing, and those of no field that need a value."""
    file = f"{own.app}/models.py"
    if own.has_publication and "publication_order" not in columns:
        what = f".publishedAt: {file} lacks the columns of a publication."
        yield describe_difference(own, what, "published_at", "publication_order")
    for name, column in columns.items():
        if name not in STANDARD and not column.null and not column.has_default():
            yield describe_difference(own, f" has no field for the column {name} of {file}, which needs a value.")


def list_rule_differences(own: OwnType, model: type[models.Model]) -> Iterator[Difference]:
    conditions = {each.name: getattr(each, "condition", None) for each in model._meta.constraints}
    for name, field, lookups in list_rules(own):
        if conditions.get(name) != Q(**lookups):
            what = f".{field.name}: {own.app}/models.py differs in the constraint {name}."
            yield describe_difference(own, what, name)


def list_index_differences(own: OwnType, model: type[models.Model]) -> Iterator[Difference]:
    present = [index.fields[:1] for index in model._meta.indexes]
    for _, name, columns in list_indexes(own):
        if [*columns[:1]] not in present:
            what = f": {own.app}/models.py has no index that begins with {columns[0]}."
            yield describe_difference(own, what, name)


def find_triggers(model: type[models.Model]) -> dict[Any, Any]:
    """Return the statements of the triggers, by their names."""
    return {each.name: each.func for each in getattr(model._meta, "triggers", ())}


def list_trigger_differences(own: OwnType, model: type[models.Model]) -> Iterator[Difference]:
    """Yield that the triggers were made for another `read` or `publication`: events would have another audience."""
    present = find_triggers(model)
    for each in announce_rows(own.name.lower(), [], **list_audience(own)):
        if each.name != "announce_updated" and present.get(each.name, each.func) != each.func:
            what = f": the triggers of {own.app}/models.py have another read or publication."
            yield describe_difference(own, what, "triggers")
            return


def list_event_differences(own: OwnType, model: type[models.Model]) -> Iterator[Difference]:
    """Yield what changes without an event, which can be a decision of the team."""
    updated = str(find_triggers(model).get("announce_updated", ""))
    missing = [name for name in list_event_names(own) if f"OLD.{convert_to_snake(name)} " not in updated]
    if updated and missing:
        yield describe_difference(own, f": the triggers lack {', '.join(missing)}.", "triggers")


def is_same(field: OwnField, column: Any, targets: Related) -> bool:
    """Return whether a column stores the values of a field, and no others by its type."""
    if column is None or isinstance(column, ArrayField) is not field.is_list or column.null is field.is_never_null:
        return False
    return is_same_item(field, column.base_field if field.is_list else column, targets)


def is_same_item(field: OwnField, item: Any, targets: Related) -> bool:
    """Return whether a column, or that of the items of a list, has the type and the limits of a field."""
    if not isinstance(item, TEXTS if field.kind == Kind.TEXT else field.column_class):
        return False
    if field.kind == Kind.TEXT:
        return item.max_length in (None, field.max_length)
    if field.kind == Kind.RELATION and not field.is_list:
        related: Any = item.related_model
        return bool(related._meta.label == targets[field.type_name]["model"])
    return not field.values or tuple(value for value, _ in item.choices or ()) == field.values


def list_missing_members(own: OwnType) -> Iterator[Difference]:
    """Yield what the SDL and the fragment lack of what `start_type` writes: fields, arguments, values of enums."""
    fragment = own.file.parent / "resources" / f"{own.snake}.graphql"
    for file, written in ((own.file, write_sdl(own)), (fragment, render("fragment.graphql", own))):
        present = read_definitions(file) if file.exists() else ()
        place = str(file.relative_to(own.file.parents[1]))
        for parent, node in list_missing(parse(written).definitions, present):
            message = f"{own.place}: {parent or place} has no {node.name.value}."
            text = written[node.loc.start : node.loc.end]
            yield Difference(message, f"{place}, {parent}".removesuffix(", "), [f"  {text}" if parent else text])


def list_missing(expected: Iterable[Any], present: Iterable[Any], parent: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the nodes that are not present by their names, each with the names of those around it."""
    found: dict[str, list[Any]] = {}
    for node in present:
        found.setdefault(node.name.value, []).extend(list_members(node))
    for node in expected:
        name = node.name.value
        if name in found:
            yield from list_missing(list_members(node), found[name], f"{parent}.{name}".lstrip("."))
        else:
            yield parent, node


def list_members(node: Any) -> list[Any]:
    """Return the fields, the arguments or the values in a definition, a field or a fragment."""
    selections = getattr(node, "selection_set", None)
    found = [getattr(node, name, None) for name in ("fields", "arguments", "values")]
    members = [each for part in (*found, selections and selections.selections) for each in part or ()]
    return [each for each in members if hasattr(each, "name")]


def require_known_members(own: OwnType, *names: str) -> None:
    """Raise `SdlError` if an input, or the enum of orders, has a member that is nothing of the type."""
    for parent, node in list_missing(read_definitions(own.file), parse(write_sdl(own)).definitions):
        if parent in names:
            member = node.name.value
            raise SdlError(f"{own.place}: {parent} has the member {member}, and {own.name} has no such field.")


def check_own_types(**_: Any) -> list[Error]:
    """Check that each own type has a table with the columns of its SDL."""
    try:
        found = [difference.message for own in load_own_types() for difference in list_differences(own)]
    except SdlError as error:
        found = [str(error)]
    return [Error(message, id="contentapi.own_types") for message in found]


def require_equal_models() -> None:
    """Raise `SdlError` for the first difference. The schema calls this before it is built."""
    for error in check_own_types():
        raise SdlError(error.msg)
