"""Statements: one for each selection and shape of rows, compiled once, prepared on the server, given values anew."""

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

from django.conf import settings
from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.models import QuerySet

from contentapi.caching import BoundedCache
from contentapi.identity import Actor
from contentapi.projection.cursors import LibpqCursor
from contentapi.projection.expressions import json_object
from contentapi.projection.fields import Compilation, Projection, in_full_order
from contentapi.projection.selections import Inputs, Parameter, ReadArguments, Selected, standing
from contentapi.projection.shapes import shape_of

PLACE_OR_PERCENT = re.compile("%s|%%")


@dataclass(slots=True)
class Statement:
    """A statement whose rows are JSON objects. Its places are filled from `parameters`, in their order."""

    sql: str  # with %s, as Django writes and logs it
    numbered: bytes  # with $1, $2…, as PostgreSQL reads it
    parameters: tuple[Any, ...]
    arguments: tuple[ReadArguments, ...]
    has_run: bool = False  # what runs again is worth preparing

    def run(self, using: str, inputs: Any) -> list[bytes]:
        """Execute the statement; its parameters read their values from `inputs`. Returns the JSON text of each row."""
        connection = connections[using]
        connection.ensure_connection()
        raw: Any = LibpqCursor(connection.connection, self.numbered, prepare=self.has_run)
        wrap = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
        with wrap(raw) as cursor:
            cursor.execute(self.sql, [value_of(parameter, inputs) for parameter in self.parameters])
            self.has_run = True
            texts: list[bytes] = raw.texts()
            return texts


def value_of(parameter: Any, inputs: Any) -> Any:
    return parameter.read(inputs) if type(parameter) is Parameter else parameter


STATEMENTS: BoundedCache[Statement] = BoundedCache(
    settings.ENVIRONMENT.contentapi_statement_cache, weigh=lambda statement: 1000 + len(statement.sql)
)


def project(
    rows: QuerySet[Any],
    projection: Projection,
    *,
    key: Hashable,
    select: Callable[[], tuple[Selected, ...]],
    actor: Actor,
    variables: Any,
) -> list[bytes]:
    """Return what is selected of each row, as the bytes of a JSON object each. Executes one statement.

    `key` stands for the selection and for all of the variables that decides its structure; `select` makes the
    selection when no statement is known for it. Raises what reading the arguments raises, and Django's database errors.
    """
    values: list[Any] = []
    shape = shape_of(rows, values)
    if shape is None:
        values.clear()
    full_key = (key, shape, standing(actor))
    statement = STATEMENTS.get(full_key) if shape is not None else None
    if statement is None:
        try:
            statement = compile_statement(rows, projection, select(), Compilation(actor, variables), values)
        except EmptyResultSet:
            return []
        if shape is not None:
            STATEMENTS.put(full_key, statement)
    values += limits_of(rows)
    return statement.run(rows.db, Inputs(actor, values, [read(variables) for read in statement.arguments]))


def limits_of(rows: QuerySet[Any]) -> list[int]:
    """Return the values of LIMIT and OFFSET, as far as the rows are sliced."""
    low, high = rows.query.low_mark, rows.query.high_mark
    return [*([] if high is None else [high - low]), *([low] if low else [])]


def compile_statement(
    rows: QuerySet[Any],
    projection: Projection,
    selection: tuple[Selected, ...],
    compilation: Compilation,
    values: list[Any],
) -> Statement:
    """Compile a statement for these rows. `values`, the last of its parameters, come anew with each execution."""
    whole = in_full_order(rows).all()
    whole.query.clear_limits()
    query, keys = projection.select(whole, selection, compilation)
    inner, parameters = query.query.get_compiler(rows.db).as_sql()
    own = len(parameters) - len(values)
    if list(parameters[own:]) != values:
        raise RuntimeError(f"The values of this query are not where they were expected: {inner}")
    limits = [" LIMIT %s"] * (rows.query.high_mark is not None) + [" OFFSET %s"] * (rows.query.low_mark > 0)
    places = [Parameter(partial(value_at, place)) for place in range(len(values) + len(limits))]
    return statement_of(inner + "".join(limits), (*parameters[:own], *places), keys, tuple(compilation.arguments))


def statement_of(
    query: str, parameters: tuple[Any, ...], keys: Sequence[str], arguments: tuple[ReadArguments, ...] = ()
) -> Statement:
    """Return the statement that makes an object of each row of a query, its columns under these keys."""
    made, columns = json_object(keys)
    sql = f"SELECT {made} FROM ({query}) AS r({columns})"  # noqa: S608 - every value is a parameter
    number = count(1)
    numbered = PLACE_OR_PERCENT.sub(lambda found: f"${next(number)}" if found[0] == "%s" else "%", sql)
    return Statement(sql, numbered.encode(), parameters, arguments)


def value_at(place: int, inputs: Inputs) -> Any:
    return inputs.values[place]
