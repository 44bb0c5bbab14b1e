"""The code of the model of an own type: columns, constraints, indexes and triggers, as lines of Python."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from contentapi.types.declared import AUTHOR
from contentapi.types.fields import Kind, OwnField, OwnType

MAX_LINE = 120
MAX_INDEX_NAME = 30  # Django's limit
CLASSES = {
    Kind.INT: "IntegerField",
    Kind.FLOAT: "FloatField",
    Kind.BOOLEAN: "BooleanField",
    Kind.TIME: "DateTimeField",
}
TIMES = """
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)
    version = models.BigIntegerField(default=1, editable=False)
"""
# A column without nulls, for the order: rows that are not published come last.
PUBLICATION = """
    published_at = models.DateTimeField(null=True, blank=True)
    publication_order = models.GeneratedField(
        expression=Coalesce("published_at", Value(NEVER)), output_field=models.DateTimeField(), db_persist=True
    )
"""


def write_call(
    start: str, arguments: Iterable[str], end: str = "", *, indent: int = 4, braces: str = "()"
) -> Iterator[str]:
    """Yield the lines of a call with these arguments, in as many lines as the length of a line requires."""
    given, margin = list(arguments), " " * indent
    opening, closing = braces[0], braces[1]
    in_one_line = f"{margin}{start}{opening}{', '.join(given)}{closing}{end}"
    in_three_lines = f"{margin}    {', '.join(given)}"
    if len(in_one_line) <= MAX_LINE:
        yield in_one_line
        return
    yield f"{margin}{start}{opening}"
    if len(in_three_lines) <= MAX_LINE and braces == "()":
        yield in_three_lines
    else:
        yield from (f"{margin}    {argument}," for argument in given)
    yield f"{margin}{closing}{end}"


def list_columns(own: OwnType, models: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of all columns but the key. `models` has the labels of the types that relations lead to."""
    for field in own.fields:
        yield from write_column(field, models)
    if own.has_publication:
        yield from PUBLICATION.strip("\n").split("\n")
    yield from TIMES.strip("\n").split("\n")


def write_column(field: OwnField, models: Mapping[str, str]) -> Iterator[str]:
    """Return the lines of the column of a field."""
    kind, arguments = get_class(field)
    if field.is_list:
        (item,) = write_call(kind, arguments, indent=0)
        return write_call(f"{field.column} = ArrayField", [item, "default=list", "blank=True"])
    if field.kind == Kind.RELATION:
        return write_call(f"{field.column} = models.ForeignKey", list_key_arguments(field, models[field.type_name]))
    return write_call(f"{field.column} = {kind}", [*arguments, *list_null_arguments(field)], get_note(field))


def get_note(field: OwnField) -> str:
    is_nullable_text = field.kind in (Kind.TEXT, Kind.ENUM) and not field.is_required
    return "  # noqa: DJ001 - null is no text" if is_nullable_text else ""


def list_key_arguments(field: OwnField, label: str) -> list[str]:
    """Return the arguments of a foreign key. A row that is required stays; without another one, the value is null."""
    behaviour = f"on_delete=models.{'PROTECT' if field.is_required else 'SET_NULL'}"
    index = ["db_index=False"] if field.name == AUTHOR else []  # another index begins with the author
    return [f'"{label}"', behaviour, *list_null_arguments(field), 'related_name="+"', *index]


def list_null_arguments(field: OwnField) -> list[str]:
    """Return what lets a column be empty: a text that is required may be empty."""
    if field.is_required:
        return ["blank=True"] if field.kind == Kind.TEXT else []
    return ["null=True", "blank=True"]


def get_class(field: OwnField) -> tuple[str, list[str]]:
    """Return the class of a column, or of the items of an array, and its arguments."""
    if field.kind == Kind.TEXT:
        return "models.CharField", [f"max_length={field.max_length}"]
    if field.kind == Kind.ENUM:
        longest = max(map(len, field.values))
        return "models.CharField", [f"max_length={longest}", f"choices={field.type_name}.choices"]
    return f"models.{CLASSES.get(field.kind, 'BigIntegerField')}", []


def list_rules(own: OwnType) -> Iterator[tuple[str, OwnField, dict[str, Any]]]:
    """Yield the name, the field and the condition of a constraint for each limit that is not the type of the column."""
    for field in own.fields:
        for suffix, lookups in list_limits(field).items():
            if lookups:
                yield get_name(own, field.column, suffix), field, lookups


def list_limits(field: OwnField) -> dict[str, dict[str, Any]]:
    """Return the lookups of each constraint of a column, none where the SDL states no limit."""
    name, values = field.column, list(field.values)
    known = {f"{name}__{'contained_by' if field.is_list else 'in'}": values} if values else {}
    limits = {f"{name}__gte": field.minimum, f"{name}__lte": field.maximum}
    stated = {lookup: limit for lookup, limit in limits.items() if limit is not None}
    if field.is_list:
        return {"known": known, "length": {f"{name}__len__lte": field.max_items}}
    return {"known": known, "range": stated}


def list_constraints(own: OwnType) -> Iterator[str]:
    """Yield the lines of the constraints."""
    for rule in list_rules(own):
        yield from write_constraint(*rule)


def write_constraint(name: str, field: OwnField, lookups: Mapping[str, Any]) -> Iterator[str]:
    values = {key: f"{field.type_name}.values" if isinstance(each, list) else each for key, each in lookups.items()}
    condition = ", ".join(f"{key}={value}" for key, value in values.items())
    yield from write_call("models.CheckConstraint", [f"condition=Q({condition})", f'name="{name}"'], ",", indent=12)


def list_indexes(own: OwnType) -> Iterator[str]:
    """Yield the lines of an index for each order, for the rows of an author, and for what lists contain."""
    orders = ["created_at", "updated_at", *(["publication_order"] if own.has_publication else [])]
    for column in [*orders, *(field.column for field in own.fields if field.is_sortable)]:
        yield from write_index(own, "models.Index", [column, "id"], column)
    if own.find_field(AUTHOR):
        yield from write_index(own, "models.Index", [AUTHOR, "created_at", "id"], AUTHOR)
    for field in own.fields:
        if field.is_list and (field.kind == Kind.RELATION or field.name == "tags"):
            yield from write_index(own, "GinIndex", [field.column], field.column)


def write_index(own: OwnType, kind: str, columns: Iterable[str], suffix: str) -> Iterator[str]:
    fields = ", ".join(f'"{column}"' for column in columns)
    arguments = [f"fields=[{fields}]", f'name="{get_name(own, suffix, most=MAX_INDEX_NAME)}"']
    yield from write_call(kind, arguments, ",", indent=12)


def get_name(own: OwnType, *parts: str, most: int = 63) -> str:
    """Return the name of a constraint or an index. A long one ends with a digest of what it would be."""
    name = "_".join((own.app, own.name.lower(), *parts))
    return name if len(name) <= most else f"{name[: most - 7]}_{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def write_triggers(own: OwnType) -> Iterator[str]:
    """Yield the lines of the triggers of events. A change of a column is a new version."""
    columns = [f'"{name}"' for name in list_event_columns(own)]
    flags = {
        "is_public": own.read == "public",
        "has_publication": own.has_publication,
        "has_author": own.find_field(AUTHOR) is not None,
    }
    yield "        triggers = announce_rows("
    yield f'            "{own.name.lower()}",'
    yield from write_call("", columns, ",", indent=12, braces="[]")
    yield from (f"            {name}={value}," for name, value in flags.items())
    yield "        )"


def list_event_columns(own: OwnType) -> list[str]:
    """Return the columns of which a change is an event."""
    names = [field.input_column if field.kind == Kind.RELATION else field.column for field in own.fields]
    return [*names, *(["published_at"] if own.has_publication else [])]
