"""The code of the model of an own type: columns, constraints and indexes, as lines of Python."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from contentapi.types.fields import AUTHOR, Kind, OwnField, OwnType

MAX_LINE = 120
NULLABLE_TEXT = "  # noqa: DJ001 - null is no text"
PUBLICATION = (  # the second column has no nulls: in the order of publication, rows that are not published come last
    "    published_at = models.DateTimeField(null=True, blank=True)",
    "    publication_order = models.GeneratedField(",
    '        expression=Coalesce("published_at", Value(NEVER)), output_field=models.DateTimeField(), db_persist=True',
    "    )",
)
MAX_INDEX_NAME = 30  # Django's limit
OPENING, CLOSING = "([{", ")]}"
BRACKETS = re.compile(r"( *)(.*?[(\[{])(.*)([)\]}].*)")  # the first and the last one


def fold(line: str) -> Iterator[str]:
    """Yield the lines in which a formatter writes a line of code that can be too long.

    What is in the outermost brackets is on a line of its own: each item, if these are too many or those of a list.
    """
    found = BRACKETS.fullmatch(line)
    if len(line.removesuffix(NULLABLE_TEXT)) <= MAX_LINE or not found:  # a formatter does not count it either
        yield line
        return
    margin, start, inside, end = found.groups()
    fits = len(f"{margin}    {inside}") <= MAX_LINE and start.endswith("(")
    yield f"{margin}{start}"
    for item in [inside] if fits else split_items(inside):
        yield f"{margin}    {item}"
    yield f"{margin}{end}"


def split_items(code: str) -> list[str]:
    """Return the items that commas separate in a line of code, but for commas in brackets, each with its comma."""
    depth, items = 0, [""]
    for character in code:
        depth += (character in OPENING) - (character in CLOSING)
        if character == "," and not depth:
            items.append("")
        else:
            items[-1] += character
    return [f"{item.strip()}," for item in items]


def write_column(field: OwnField, labels: Mapping[str, str]) -> str:
    """Return the line of the column of a field. `labels` has the models to which relations lead."""
    if field.is_list:
        return write_array(field)
    is_key, note = field.kind == Kind.RELATION, ""
    arguments = list_key_arguments(field, labels[field.type_name]) if is_key else list_arguments(field)
    if not field.is_required:
        arguments += ["null=True", "blank=True"]
        note = NULLABLE_TEXT if field.kind in (Kind.TEXT, Kind.ENUM) else ""
    elif field.kind == Kind.TEXT:  # which may be empty
        arguments += ["blank=True"]
    line = f"    {field.column} = models.{field.column_class.__name__}({', '.join(arguments)})"
    return f"{line}{note}"


def write_array(field: OwnField) -> str:
    item = f"models.{field.column_class.__name__}({', '.join(list_arguments(field))})"
    return f"    {field.column} = ArrayField({item}, default=list, blank=True)"


def list_arguments(field: OwnField) -> list[str]:
    """Return the arguments of a column, or of that of the items of a list, with the limits of a value."""
    if field.kind == Kind.TEXT:
        return [f"max_length={field.max_length}"]
    if field.kind == Kind.ENUM:
        return [f"max_length={max(map(len, field.values))}", f"choices={field.type_name}.choices"]
    return []


def list_key_arguments(field: OwnField, label: str) -> list[str]:
    """Return the arguments of a foreign key. A row that is required stays; without another one, the value is null."""
    behaviour = "PROTECT" if field.is_required else "SET_NULL"
    index = ["db_index=False"] if field.name == AUTHOR else []  # another index begins with the author
    return [f'"{label}"', f"on_delete=models.{behaviour}", 'related_name="+"', *index]


def list_rules(own: OwnType) -> Iterator[tuple[str, OwnField, dict[str, Any]]]:
    """Yield the name, the field and the condition of a constraint for each limit that is not the type of the column."""
    for field in own.fields:
        for suffix, lookups in list_limits(field).items():
            if lookups:
                yield get_name(own, field.column, suffix), field, lookups


def list_limits(field: OwnField) -> dict[str, dict[str, Any]]:
    """Return the lookups of each constraint of a column, none where the SDL states no limit."""
    name, values = field.column, [*field.values]
    known = {f"{name}__{'contained_by' if field.is_list else 'in'}": values} if values else {}
    if field.is_list:
        return {"known": known, "length": {f"{name}__len__lte": field.max_items}}
    limits = {f"{name}__gte": field.minimum, f"{name}__lte": field.maximum}
    return {"known": known, "range": {lookup: limit for lookup, limit in limits.items() if limit is not None}}


def write_constraint(name: str, field: OwnField, lookups: Mapping[str, Any]) -> str:
    values = {key: f"{field.type_name}.values" if isinstance(each, list) else each for key, each in lookups.items()}
    condition = ", ".join(f"{key}={value}" for key, value in values.items())
    return f'            models.CheckConstraint(condition=Q({condition}), name="{name}"),'


def list_indexes(own: OwnType) -> Iterator[Sequence[str]]:
    """Yield an index for each order, for the rows of an author, and for what lists contain: its class and columns."""
    for column in own.orders.values():
        yield "models.Index", column, "id"
    if own.find_field(AUTHOR):
        yield "models.Index", AUTHOR, "created_at", "id"
    for field in own.fields:
        if field.is_list and (field.kind == Kind.RELATION or field.name == "tags"):
            yield "GinIndex", field.column


def write_index(own: OwnType, kind: str, *columns: str) -> str:
    fields = ", ".join(f'"{column}"' for column in columns)
    return f'            {kind}(fields=[{fields}], name="{get_name(own, columns[0], most=MAX_INDEX_NAME)}"),'


def get_name(own: OwnType, *parts: str, most: int = 63) -> str:
    """Return the name of a constraint or an index. A long one ends with a digest of what it would be."""
    name = "_".join((own.app, own.name.lower(), *parts))
    return name if len(name) <= most else f"{name[: most - 7]}_{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def list_audience(own: OwnType) -> dict[str, bool]:
    """Return the arguments of `announce_rows` that decide who sees the events."""
    return {
        "is_public": own.read == "public",
        "has_publication": own.has_publication,
        "has_author": own.find_field(AUTHOR) is not None,
    }


def list_event_columns(own: OwnType) -> list[str]:
    """Return the columns of which a change is an event."""
    names = [field.input_column if field.kind == Kind.RELATION else field.column for field in own.fields]
    return [*names, *(["published_at"] if own.has_publication else [])]
