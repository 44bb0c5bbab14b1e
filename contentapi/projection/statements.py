"""Statements: one for each selection and shape of rows, compiled once, prepared on the server, given values anew."""

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import count
from operator import attrgetter
from typing import Any

from django.conf import settings
from django.core.exceptions import EmptyResultSet
from django.db.models import QuerySet

from contentapi.caching import BoundedCache
from contentapi.identity import Actor
from contentapi.projection.cursors import execute
from contentapi.projection.expressions import json_object
from contentapi.projection.fields import Compilation, Projection, in_full_order, one_row_each
from contentapi.projection.selections import Inputs, Parameter, ReadArguments, Selected, standing
from contentapi.projection.shapes import ShapedQuerySet

LONGEST_PREPARED = 16 * 1024  # bytes; what is prepared holds memory on the server, by its size
PLACE_OR_PERCENT = re.compile("%s|%%")


@dataclass(slots=True)
class Statement:
    """A statement whose rows are JSON objects. Its places are filled from `parameters`, in their order."""

    sql: str  # with %s, as Django writes and logs it
    numbered: bytes  # with $1, $2…, as PostgreSQL reads it
    parameters: tuple[Any, ...]
    arguments: tuple[ReadArguments, ...]
    weight: int = 0  # in a cache: bytes of texts, as a measure of the memory that they and what is made of them take
    has_run: bool = False

    def run(self, using: str, inputs: Any) -> list[bytes]:
        """Execute the statement; its parameters read their values from `inputs`. Returns the JSON text of each row."""
        values = [value_of(parameter, inputs) for parameter in self.parameters]
        texts = execute(using, self.sql, self.numbered, values, prepare=self.is_worth_preparing)
        self.has_run = True
        return texts

    @property
    def is_worth_preparing(self) -> bool:
        return self.has_run and len(self.numbered) <= LONGEST_PREPARED


def value_of(parameter: Any, inputs: Any) -> Any:
    return parameter.read(inputs) if type(parameter) is Parameter else parameter


STATEMENTS: BoundedCache[Statement] = BoundedCache(
    settings.ENVIRONMENT.contentapi_statement_cache, weigh=attrgetter("weight")
)


def project(
    rows: QuerySet[Any],
    projection: Projection,
    *,
    key: Hashable,
    size: int,
    select: Callable[[], tuple[Selected, ...]],
    actor: Actor,
    variables: Any,
) -> list[bytes]:
    """Return what is selected of each row, as the bytes of a JSON object each. Executes one statement.

    `key` stands for the selection and for all of the variables that decides its structure; `select` makes the selection
    when no statement is known for it, and `size` is how many bytes it is written with. Raises what reading the
    arguments raises, and Django's database errors. Values are bound by the server, which infers their types from their
    places: where nothing else says it, as in a comparison of two values, a QuerySet has to `Cast` them.
    """
    full_key = (key, rows.shape, standing(actor)) if isinstance(rows, ShapedQuerySet) else None
    statement = STATEMENTS.get(full_key) if full_key is not None else None
    if statement is None:
        try:
            statement = compile_statement(rows, projection, select(), Compilation(actor, variables))
        except EmptyResultSet:
            return []
        if full_key is not None:
            statement.weight = 1000 + len(statement.sql) + size  # a statement keeps parts of the document it is for
            STATEMENTS.put(full_key, statement)
    arguments = [read(variables) for read in statement.arguments]
    return statement.run(rows.db, Inputs(actor, rows, *window_of(rows), arguments))


def window_of(rows: QuerySet[Any]) -> tuple[int | None, int]:
    """Return the limit and the offset that rows are sliced by."""
    if isinstance(rows, ShapedQuerySet):
        low, high = rows.window.start or 0, rows.window.stop
    else:
        low, high = rows.query.low_mark, rows.query.high_mark
    return (None if high is None else high - low), low


def compile_statement(
    rows: QuerySet[Any], projection: Projection, selection: tuple[Selected, ...], compilation: Compilation
) -> Statement:
    whole = in_full_order(one_row_each(rows.template() if isinstance(rows, ShapedQuerySet) else rows)).all()
    whole.query.clear_limits()
    query, keys = projection.select(whole, selection, compilation)
    sql, parameters = query.query.get_compiler(rows.db).as_sql()
    limit, offset = window_of(rows)
    if limit is not None:
        sql, parameters = f"{sql} LIMIT %s", (*parameters, Parameter(attrgetter("limit")))
    if offset:
        sql, parameters = f"{sql} OFFSET %s", (*parameters, Parameter(attrgetter("offset")))
    return statement_of(sql, tuple(parameters), keys, tuple(compilation.arguments))


def statement_of(
    query: str, parameters: tuple[Any, ...], keys: Sequence[str], arguments: tuple[ReadArguments, ...] = ()
) -> Statement:
    """Return the statement that makes an object of each row of a query, its columns under these keys."""
    made, columns = json_object(keys)
    sql = f"SELECT {made} FROM ({query}) AS r({columns})"  # noqa: S608 - every value is a parameter
    number = count(1)
    numbered = PLACE_OR_PERCENT.sub(lambda found: f"${next(number)}" if found[0] == "%s" else "%", sql)
    return Statement(sql, numbered.encode(), parameters, arguments)
