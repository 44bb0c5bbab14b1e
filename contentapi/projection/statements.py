"""Statements: one for each selection and shape of rows, compiled once, prepared on the server, given values anew."""

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from operator import attrgetter
from typing import Any, NamedTuple, cast

from django.core.exceptions import EmptyResultSet
from django.db.models import QuerySet
from psycopg.pq.abc import PGresult

from contentapi.conf import conf
from contentapi.core.caching import BoundedCache
from contentapi.core.identity import Actor
from contentapi.projection.connections import ConnectionCompiler, ConnectionQuery, ConnectionType, require_own_cursors
from contentapi.projection.expressions import build_json_object_sql
from contentapi.projection.fields import Compilation, Projection
from contentapi.projection.libpq import column, execute
from contentapi.projection.ordering import with_total_order
from contentapi.projection.querysets import ParametrisedRows
from contentapi.projection.selections import ExecutionInputs, Parameter, SelectedField, actor_cache_key

LONGEST_PREPARED = 16 * 1024  # bytes; what is prepared holds memory on the server, by its size
PLACE_OR_PERCENT = re.compile("%s|%%")


@dataclass(slots=True)
class Statement:
    """A statement whose rows are JSON objects. Its places are filled from `parameters`, in their order."""

    sql: str  # with %s, as Django writes and logs it
    numbered: bytes  # with $1, $2…, as PostgreSQL reads it
    parameters: tuple[Any, ...]
    arguments: tuple[Callable[[Any], Any], ...]  # each returns what the variables of a request make of some
    weight: int = 0  # in a cache: bytes of texts, as a measure of the memory that they and what is made of them take
    has_run: bool = False

    def run(self, using: str, inputs: Any, room: int | None = None) -> list[bytes]:
        """Execute the statement, as `execute` does. Returns the JSON text of each row, in at most `room` bytes."""
        return column(self.execute(using, inputs), 0, room)

    def execute(self, using: str, inputs: Any, first: Sequence[Any] = ()) -> PGresult:
        """Execute the statement; its parameters read their values from `inputs`, but for the first, which are given.

        Returns what the server sent.
        """
        values = first if len(first) == len(self.parameters) else [*first, *self.values(inputs, len(first))]
        result = execute(using, self.sql, self.numbered, values, prepare=self.is_worth_preparing)
        self.has_run = True
        return result

    def values(self, inputs: Any, start: int = 0) -> list[Any]:
        parameters = self.parameters[start:] if start else self.parameters
        return [each.read(inputs) if type(each) is Parameter else each for each in parameters]

    @property
    def is_worth_preparing(self) -> bool:
        return self.has_run and len(self.numbered) <= LONGEST_PREPARED


STATEMENTS: BoundedCache[Statement] = BoundedCache(
    conf.environment.contentapi_statement_cache, weigh=attrgetter("weight")
)


class SelectionRequest(NamedTuple):
    """What is selected of rows, by whom, and how.

    `key` stands for the selection and for all of the variables that decides its structure; `select` makes the selection
    when no statement is known for it, and `size` is how many bytes it is written with. `room` is the number of bytes
    that the rows may have; None for any number.
    """

    projection: Projection | ConnectionType
    key: Hashable
    size: int
    select: Callable[[], tuple[SelectedField, ...]]
    actor: Actor
    variables: Any
    room: int | None = None


def read_json(rows: QuerySet[Any] | ConnectionQuery, reading: SelectionRequest) -> list[bytes]:
    """Return what is selected of each row, or of one connection, as the bytes of a JSON object each, by one statement.

    Raises what reading the arguments raises, `ResponseTooLarge`, and Django's database errors. Values are bound by the
    server, which infers their types from their places: where nothing else says it, as in a comparison of two values, a
    QuerySet has to `Cast` them.
    """
    shape = get_cache_key(rows)
    try:
        statement = get_statement(None if shape is None else (shape,), reading, lambda: compile_request(rows, reading))
    except EmptyResultSet:
        return []
    arguments = [read(reading.variables) for read in statement.arguments]
    whole, window = (rows.rows, rows.window) if isinstance(rows, ConnectionQuery) else (rows, None)
    inputs = ExecutionInputs(reading.actor, whole, *get_limit_and_offset(whole), window, arguments)
    texts = statement.run(whole.db, inputs, reading.room)
    require_own_cursors(arguments, texts)
    return texts


def get_statement(of: Hashable | None, reading: SelectionRequest, make: Callable[[], Statement]) -> Statement:
    """Return the statement for a reading of something, made unless it is known; None stands for what has no name."""
    if of is None:
        return make()
    key = (reading.key, of, actor_cache_key(reading.actor))
    statement = STATEMENTS.get(key)
    if statement is None:
        statement = make()
        statement.weight = 1000 + len(statement.sql) + reading.size  # it keeps parts of the document it is for
        STATEMENTS.put(key, statement)
    return statement


def compile_request(rows: QuerySet[Any] | ConnectionQuery, reading: SelectionRequest) -> Statement:
    compilation = Compilation(reading.actor, reading.variables)
    if isinstance(rows, ConnectionQuery):
        return compile_connection(rows, cast("ConnectionType", reading.projection), reading.select(), compilation)
    return compile_statement(rows, cast("Projection", reading.projection), reading.select(), compilation)


def get_cache_key(rows: QuerySet[Any] | ConnectionQuery) -> Hashable:
    """Return the shape of rows; None where they have none."""
    if isinstance(rows, ConnectionQuery):
        shape = get_cache_key(rows.rows)
        return None if shape is None else (shape, rows.structure)
    return rows.cache_key if isinstance(rows, ParametrisedRows) else None


def get_limit_and_offset(rows: QuerySet[Any]) -> tuple[int | None, int]:
    """Return the limit and the offset that rows are sliced by."""
    if isinstance(rows, ParametrisedRows):
        low, high = rows.window.start or 0, rows.window.stop
    else:
        low, high = rows.query.low_mark, rows.query.high_mark
    return (None if high is None else high - low), low


def compile_statement(
    rows: QuerySet[Any], projection: Projection, selection: tuple[SelectedField, ...], compilation: Compilation
) -> Statement:
    whole = with_total_order(without_distinct(rows.template() if isinstance(rows, ParametrisedRows) else rows)).all()
    whole.query.clear_limits()
    query, keys = projection.select(whole, selection, compilation)
    sql, parameters = query.query.get_compiler(rows.db).as_sql()
    limit, offset = get_limit_and_offset(rows)
    if limit is not None:
        sql, parameters = f"{sql} LIMIT %s", (*parameters, Parameter(attrgetter("limit")))
    if offset:
        sql, parameters = f"{sql} OFFSET %s", (*parameters, Parameter(attrgetter("offset")))
    return build_json_statement(sql, tuple(parameters), keys, tuple(compilation.arguments))


def without_distinct(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Return the rows without a DISTINCT, which would be one of the selected fields and not of the rows."""
    if not rows.query.distinct:
        return rows
    keys = rows if rows.query.is_sliced else rows.order_by()
    of_model: QuerySet[Any] = rows.model._base_manager.filter(pk__in=keys.values("pk"))
    return of_model.order_by(*rows.query.order_by)


def compile_connection(
    connected: ConnectionQuery, kind: ConnectionType, selection: tuple[SelectedField, ...], compilation: Compilation
) -> Statement:
    rows = connected.rows
    whole = replace(connected, rows=rows.template() if isinstance(rows, ParametrisedRows) else rows)
    made = ConnectionCompiler(whole, kind, compilation, attrgetter("window")).connection(selection)
    nothing = rows.model._base_manager.none().query  # what an expression stands in; this one reads no row of it
    sql, parameters = nothing.get_compiler(rows.db).compile(made.resolve_expression(nothing))
    return to_numbered_placeholders(f"SELECT {sql}", tuple(parameters), tuple(compilation.arguments))


def build_json_statement(
    query: str,
    parameters: tuple[Any, ...],
    keys: Sequence[str],
    arguments: tuple[Callable[[Any], Any], ...] = (),
) -> Statement:
    """Return the statement that makes an object of each row of a query, its columns under these keys."""
    made, columns = build_json_object_sql(keys)
    sql = f"SELECT {made} FROM ({query}) AS r({columns})"  # noqa: S608 - every value is a parameter
    return to_numbered_placeholders(sql, parameters, arguments)


def to_numbered_placeholders(
    sql: str, parameters: tuple[Any, ...], arguments: tuple[Callable[[Any], Any], ...]
) -> Statement:
    number = count(1)
    text = PLACE_OR_PERCENT.sub(lambda found: f"${next(number)}" if found[0] == "%s" else "%", sql)
    return Statement(sql, text.encode(), parameters, arguments)
