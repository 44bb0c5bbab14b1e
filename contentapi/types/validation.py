"""The values of a row of an own type, as its columns store them: types, limits, and the rows that relations name."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.db import connection
from django.db.models import Model, QuerySet

from contentapi.core.errors import Invalid
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.db.distribution import is_distributed
from contentapi.events.declarations import Type
from contentapi.types.fields import AUTHOR, Kind, OwnField, convert_to_snake
from contentapi.types.models import OwnModel
from contentapi.types.values import convert_value, find_problem

NULL = "This must not be null."
LONGEST_ID = 19  # digits


def clean_values(
    own: OwnModel, actor: Actor, values: Mapping[str, Any], *, is_new: bool = False, present: Any = None
) -> dict[str, Any]:
    """Return the values by the names of their columns, but for the author. A relation may keep its `present` rows.

    A new row needs all values that are required. Raises `Malformed` for a wrong type, and `Invalid` for what breaks a
    limit, names an unknown row, or is unknown itself.
    """
    fields = {field.input_column: field for field in own.sdl.fields}
    if unknown := values.keys() - fields.keys():
        raise TypeError(f"A {own.sdl.noun} has no {', '.join(sorted(unknown))}.")
    columns, problems = {}, {}
    for name, field in fields.items():
        if field.name != AUTHOR and (name in values or (is_new and field.is_required)):
            columns[name], found = clean_value(own, actor, field, values.get(name), getattr(present, name, None))
            if found:
                problems[field.input_name] = found
    if problems:
        raise Invalid(problems)
    return columns


def clean_value(own: OwnModel, actor: Actor, field: OwnField, value: Any, present: Any) -> tuple[Any, list[str]]:
    """Return a value as its column stores it, and what is wrong with it. Raises `Malformed` for a wrong type."""
    if value is None and field.is_required:
        return None, [NULL]
    cleaned = convert_value(field, value)
    if problem := find_problem(field, cleaned):
        return None, [problem]
    return find_rows(own, actor, field, cleaned, present) if field.kind == Kind.RELATION else (cleaned, [])


def find_rows(own: OwnModel, actor: Actor, field: OwnField, value: Any, present: Any) -> tuple[Any, list[str]]:
    """Return the keys of the rows that a relation names, or the key of its one row, and what is wrong with them.

    A row must be one that the actor may see in a relation, or a present one.
    """
    texts = value if field.is_list else [text for text in [value] if text is not None]
    ids = [parse_id(text) for text in texts]
    kept = present if isinstance(present, list) else [present]
    known = {*kept, *find_related(own, actor, field, [pk for pk in ids if pk not in kept])}
    problems = list_unknown(field, {text for text, pk in zip(texts, ids, strict=True) if pk not in known})
    if len({*ids}) < len(ids):
        problems.append("The values must be unique.")
    return (ids if field.is_list else next(iter(ids), None)), problems


def find_related(own: OwnModel, actor: Actor, field: OwnField, ids: Collection[int]) -> Iterable[int]:
    """Return those of the ids of rows that a relation may name. They are not deleted until the transaction ends."""
    if not ids:
        return ()
    target = own.types[field.type_name]
    lock_keys(target.projection.model, ids)
    return select_nameable(target, target.projection.model._base_manager.filter(pk__in=ids), actor).values_list(
        "pk", flat=True
    )


def select_nameable(target: Type, rows: QuerySet[Any], actor: Actor) -> QuerySet[Any]:
    """Return those of the rows of a type that the actor may name in a relation."""
    return (target.named or target.related)(rows, actor)


def lock_keys(model: type[Model], ids: Collection[int]) -> None:
    """Lock the keys of rows as a foreign key does, which Django has no method for. A statement of Citus locks one."""
    table = connection.ops.quote_name(model._meta.db_table)
    ordered = sorted(ids)
    with connection.cursor() as cursor:
        for batch in [[pk] for pk in ordered] if is_distributed() else [ordered]:
            cursor.execute(f"SELECT 1 FROM {table} WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE", [batch])  # noqa: S608


def list_unknown(field: OwnField, unknown: Collection[str]) -> list[str]:
    kind = convert_to_snake(field.type_name).replace("_", " ")
    return [f"There is no {kind} with the id {text[:LONGEST_ID]}." for text in sorted(unknown)]


def refuse_unknown(own: OwnModel, name: str, text: str) -> None:
    """Raise `Invalid` for an id that no row has."""
    if field := own.sdl.find_field(name):
        raise Invalid({field.input_name: list_unknown(field, {text})})
