"""Compile a selection and a QuerySet to one SQL statement whose rows are JSON objects, and execute it.

A statement is cached by the selection and the cache key of the rows. Each execution binds its own values. From the
second execution on, it is a prepared statement of the connection.
"""

from collections.abc import Callable, Hashable
from contextlib import suppress
from copy import copy
from functools import partial
from operator import attrgetter
from typing import Any

import msgspec
from django.core.exceptions import EmptyResultSet
from django.db import DEFAULT_DB_ALIAS
from django.db.models import BigIntegerField, Model, QuerySet
from psycopg.pq.abc import PGresult

from contentapi.conf import conf
from contentapi.core.caching import BoundedCache
from contentapi.core.errors import ResponseTooLarge
from contentapi.core.identity import Actor
from contentapi.core.replicas import ROUTE
from contentapi.db.distribution import get_backend, is_distributed
from contentapi.projection.compiled import Statement, build_json_statement, build_numbered_statement
from contentapi.projection.connections import ConnectionQuery, reject_foreign_cursors, require_cursors_of
from contentapi.projection.deferred import MARKER, select_value
from contentapi.projection.expressions import JsonObject, RawExpression
from contentapi.projection.fields import CompilationContext
from contentapi.projection.libpq import read_column
from contentapi.projection.nodes import NodeQuery
from contentapi.projection.ordering import with_total_order
from contentapi.projection.querysets import Rows
from contentapi.projection.selections import ExecutionInputs, Parameter, SelectedField

STATEMENTS: BoundedCache[Statement] = BoundedCache(
    conf.environment.contentapi_statement_cache, weigh=attrgetter("weight"), name="statements"
)


class SelectionRequest(msgspec.Struct):
    """A selection of a projected type, with the actor and the variables of a request.

    `key` identifies the selection, including all variables that can change its structure. `select` returns the
    selection; it is called when the statement is not cached. For a `NodeQuery`, it returns an entry for each possible
    type: `name` is the type, and `selection` has its fields. `size` is the length of the selection's text in bytes.
    `room` is the maximum size of all rows in bytes; None means no maximum. `column` is an expression that
    `read_json_and_column` reads besides the selection.
    """

    projection: Any  # the `Projection`, or the type of a `ConnectionQuery` or a `NodeQuery`
    key: Hashable
    size: int
    select: Callable[[], tuple[SelectedField, ...]]
    actor: Actor
    variables: Any
    room: int | None = None
    column: Any = None


def read_json(rows: Rows[Any] | ConnectionQuery | NodeQuery, request: SelectionRequest) -> list[bytes]:
    """Return the JSON object of each row or of each requested node, or the one of a connection. Executes one statement.

    Raises `SelectedFieldError`, `ResponseTooLarge`, and Django's database errors. The server infers the types of values
    from their places in the statement. Where a place does not determine the type, as in a comparison of two values, the
    QuerySet has to `Cast` them.
    """
    execution = execute_selection(rows, request)
    if execution is None:
        return read_nodes_one_by_one(rows, request) if isinstance(rows, NodeQuery) else []
    result, statement, inputs = execution
    texts = read_column(result, 0, request.room)
    if inputs.arguments:
        reject_foreign_cursors(inputs.arguments, texts)
    return insert_deferred_rows(texts, statement, inputs, request) if statement.deferred else texts


def read_json_and_column(rows: Rows[Any], request: SelectionRequest) -> list[tuple[bytes, bytes]]:
    """Return the JSON object of each row, and the value of the column as text. Raises as `read_json` does."""
    execution = execute_selection(rows, request)
    if execution is None:
        return []
    result, statement, inputs = execution
    texts = read_column(result, 0, request.room)
    reject_foreign_cursors(inputs.arguments, texts)
    texts = insert_deferred_rows(texts, statement, inputs, request)
    return list(zip(texts, read_column(result, 1), strict=True))


def execute_selection(
    query: Rows[Any] | ConnectionQuery | NodeQuery, request: SelectionRequest
) -> tuple[PGresult, Statement, ExecutionInputs] | None:
    """Return the result, its statement and its inputs, or None if no row can meet the conditions.

    Nor is there a result of nodes of a distributed database: see `read_nodes_one_by_one`.
    """
    rows, window = (query.rows, query.window) if isinstance(query, ConnectionQuery) else (query, None)
    if isinstance(rows, NodeQuery) and is_distributed():
        return None
    try:
        statement = get_statement(query, request, compile_query)
    except EmptyResultSet:
        return None
    arguments = [read(request.variables) for read in statement.arguments] if statement.arguments else []
    inputs = ExecutionInputs(request.actor, rows, window, arguments)
    return statement.execute(rows.db, inputs), statement, inputs


def compile_query(query: Rows[Any] | ConnectionQuery | NodeQuery, request: SelectionRequest) -> Statement:
    if isinstance(query, ConnectionQuery):
        return compile_connection(query, request)
    return compile_statement(query, request) if isinstance(query, Rows) else compile_node_query(query, request)


def read_nodes_one_by_one(query: NodeQuery, request: SelectionRequest) -> list[bytes]:
    """Return the JSON of each node: no statement of a distributed database reads tables of posts by a list of ids."""
    selections = {selected.name: selected.selection for selected in request.select()}
    texts = []
    for node_id in query.ids:
        found: list[bytes] = []
        for projection, select in query.node_type.selectors.items():
            one = copy(request)
            one.projection, one.key = projection, (request.key, projection.name)
            one.select = partial(selections.__getitem__, projection.name)
            found = found or read_json(select(request.actor, node_id), one)
        texts.append(found[0] if found else b"null")
    return texts


def insert_deferred_rows(
    texts: list[bytes], statement: Statement, inputs: ExecutionInputs, request: SelectionRequest
) -> list[bytes]:
    """Return texts with the JSON of deferred fields in the places of their markers. Raises as `read_json` does."""
    if not statement.deferred:
        return texts
    markers = [found for text in texts for found in MARKER.finditer(text)]
    values: dict[bytes, bytes] = {}
    for found in {found[0]: found for found in markers}.values():
        nested, is_list = statement.deferred[int(found[1])]
        values[found[0]] = read_deferred_field(nested, inputs, request, int(found[2]), is_list=is_list)
    size = sum(map(len, texts)) + sum(len(values[found[0]]) for found in markers)
    if request.room is not None and size > request.room:
        raise ResponseTooLarge(conf.environment.contentapi_max_response)
    return [MARKER.sub(lambda found: values[found[0]], text) for text in texts]


def read_deferred_field(
    statement: Statement, inputs: ExecutionInputs, request: SelectionRequest, parent: int, *, is_list: bool
) -> bytes:
    """Return the JSON of a deferred field of one row. Raises as `read_json` does."""
    arguments = [read(request.variables) for read in statement.arguments]
    require_cursors_of(arguments, parent)
    own = ExecutionInputs(inputs.actor, inputs.rows, None, arguments, parent)
    result = statement.execute(ROUTE.alias or DEFAULT_DB_ALIAS, own)
    texts = insert_deferred_rows(read_column(result, 0, request.room), statement, own, request)
    if is_list:
        return b"[" + b",".join(texts) + b"]"
    return texts[0] if texts else b"null"


def get_statement(
    query: Any, request: SelectionRequest, compile_: Callable[[Any, SelectionRequest], Statement]
) -> Statement:
    """Return the cached statement for a query, by its `cache_key`, and a request. Compile it if it is not cached.

    A query whose cache key is None is compiled each time.
    """
    rows_key = query.cache_key
    if rows_key is None:
        return compile_(query, request)
    key = (request.key, rows_key, request.actor.rights)
    statement = STATEMENTS.get(key)
    if statement is None:
        statement = compile_(query, request)
        # Its functions refer to parts of the document, whose size therefore counts too.
        statement.weight = 1000 + statement.length + request.size
        STATEMENTS.put(key, statement)
    return statement


def compile_statement(rows: Rows[Any], request: SelectionRequest) -> Statement:
    """Compile a selection of rows.

        SELECT row_to_json(r.*)
        FROM (SELECT "blog_post"."title" AS "_0" FROM "blog_post" ORDER BY "blog_post"."id" ASC LIMIT $1) AS r("title")

    With a column, the object is a column too:

        SELECT (SELECT row_to_json(r.*) FROM (SELECT "blog_post"."title") AS r("title")) AS "_0",
          "blog_post"."version" AS "_1"
        FROM "blog_post" ORDER BY "blog_post"."id" ASC LIMIT $1
    """
    compilation = CompilationContext(request.actor, request.variables)
    projection, selection = request.projection, request.select()
    all_rows = without_distinct(rows.with_parameters())
    if rows.is_slice or all_rows.ordered:  # all others are one row at most, that of a unique key
        all_rows = with_total_order(all_rows)
    if request.column is None:
        query, keys = projection.select(all_rows, selection, compilation)
        return build_json_statement(*compile_with_limit_and_offset(query, rows), keys, compilation)
    columns = {"_0": projection.build_object(selection, compilation), "_1": request.column}
    return build_numbered_statement(*compile_with_limit_and_offset(all_rows.values(**columns), rows), compilation)


def compile_with_limit_and_offset(query: QuerySet[Any, Any], rows: Rows[Any]) -> tuple[str, tuple[Any, ...]]:
    """Return the SQL of a query with the slice of these rows: `SELECT … LIMIT %s OFFSET %s`.

    Django would write both numbers into the text, which would then serve one page only.
    """
    sql, parameters = get_backend().place(query.query, *query.query.get_compiler(rows.db).as_sql())
    if rows.limit is not None:
        sql, parameters = f"{sql} LIMIT %s", (*parameters, Parameter(attrgetter("rows.limit")))
    if rows.offset:
        sql, parameters = f"{sql} OFFSET %s", (*parameters, Parameter(attrgetter("rows.offset")))
    return sql, tuple(parameters)


def without_distinct(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Return the same rows without DISTINCT, which would compare the selected fields instead of the rows.

    SELECT DISTINCT author.* … becomes SELECT … WHERE id IN (SELECT DISTINCT id …)
    """
    if not rows.query.distinct:
        return rows
    of_model: QuerySet[Any] = rows.model._base_manager.filter(pk__in=rows.order_by().values("pk"))
    return of_model.order_by(*rows.query.order_by)


def compile_connection(connection: ConnectionQuery, request: SelectionRequest) -> Statement:
    """Compile a connection, which is one JSON object. `ConnectionCompiler` has an example."""
    compilation = CompilationContext(request.actor, request.variables)
    rows, order, window = connection.rows, connection.order, attrgetter("window")
    compiler = connection.compiler(
        rows.with_parameters(), order, connection.window, request.projection, compilation, window
    )
    sql, parameters = compile_without_rows(compiler.compile(request.select()), rows.model, rows.db)
    return build_numbered_statement(select_value(sql), parameters, compilation)


def compile_node_query(query: NodeQuery, request: SelectionRequest) -> Statement:
    """Compile a selection of nodes. PostgreSQL looks for a row of each type in turn, until there is one:

    SELECT coalesce(
      (SELECT row_to_json(r.*) FROM (SELECT … FROM "blog_post" U0 WHERE … AND U0."id" = (node.id)) AS r("title")),
      (SELECT row_to_json(r.*) FROM (SELECT … FROM "blog_author" U0 WHERE U0."id" = (node.id)) AS r("name")))
    FROM unnest($1::bigint[]) WITH ORDINALITY AS node(id, place) ORDER BY node.place
    """
    compilation = CompilationContext(request.actor, request.variables)
    selections = {selected.name: selected.selection for selected in request.select()}
    texts: list[str] = []
    parameters: list[Any] = []
    for projection, select in query.node_type.selectors.items():
        rows = select(request.actor, "0").with_parameters(pk=RawExpression("node.id", BigIntegerField()))
        expression = JsonObject(*projection.select(rows, selections[projection.name], compilation))
        with suppress(EmptyResultSet):  # the actor may see no row of this type
            sql, values = compile_without_rows(expression, projection.model, query.db)
            texts.append(sql)
            parameters += values
    sql = (
        f"SELECT coalesce({', '.join(texts)}) FROM unnest(%s::bigint[]) WITH ORDINALITY AS node(id, place)"  # noqa: S608
        " ORDER BY node.place"
    )
    ids = Parameter(lambda inputs: inputs.rows.array)
    return build_numbered_statement(sql, (*parameters, ids), compilation)


def compile_without_rows(expression: Any, model: type[Model], using: str) -> tuple[str, tuple[Any, ...]]:
    """Return the SQL of an expression that reads no row of an enclosing query.

    Django compiles an expression only within a query. This query has no rows and is not part of the statement.
    """
    query = model._base_manager.none().query
    sql, parameters = query.get_compiler(using).compile(expression.resolve_expression(query))
    return sql, tuple(parameters)
