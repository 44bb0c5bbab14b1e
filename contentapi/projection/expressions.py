"""Django expressions for JSON that PostgreSQL builds: an object for each row, an array for rows, a page, a cursor.

`row_to_json` of a subquery contains each key once and no spaces. `json`, unlike `jsonb`, keeps the order of the keys.
To-one relations are scalar subqueries, which PostgreSQL answers by an index lookup for each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from string import Formatter
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db.models import BooleanField, Expression, Field, Func, JSONField, Model, QuerySet, Subquery, TextField
from django.db.models.sql.compiler import SQLCompiler

from contentapi.db.distribution import get_backend
from contentapi.db.expressions import TextLiteral
from contentapi.projection.selections import Parameter

LONGEST_IDENTIFIER = 63  # bytes; PostgreSQL truncates longer ones
FORMATTER = Formatter()


def build_json_object_sql(keys: Sequence[str]) -> tuple[str, str]:
    """Return SQL for the JSON object of a row `r` with a column for each key, and the list of its column names.

        row_to_json(r.*)        "id", "title"

    Keys are GraphQL names and need no escaping. `r.*` is the row even if a column has the name `r`.
    """
    if not keys:
        return "'{}'::json", '"0"'
    if max(map(len, keys)) <= LONGEST_IDENTIFIER:
        return "row_to_json(r.*)", ", ".join(f'"{key}"' for key in keys)
    # A column name would truncate a longer key. The columns get numbers, and the keys are literals:
    # ('{' || '"long…":' || coalesce(to_json(r."0")::text, 'null') || '}')::json
    members = " || ',' || ".join(
        f"""'"{key}":' || coalesce(to_json(r."{number}")::text, 'null')""" for number, key in enumerate(keys)
    )
    return f"('{{' || {members} || '}}')::json", ", ".join(f'"{number}"' for number in range(len(keys)))


class JsonObject(Subquery):
    """The one row of a query as a JSON object, or null if there is no row.

    (SELECT row_to_json(r.*) FROM (SELECT U0."name" AS "_0" FROM "blog_author" U0 WHERE …) AS r("name"))
    """

    template = "(SELECT %(object)s FROM (%(subquery)s) AS r(%(columns)s))"

    def __init__(self, queryset: QuerySet[Model, Any], keys: Sequence[str]) -> None:
        object_sql, columns = build_json_object_sql(keys)
        super().__init__(queryset, output_field=JSONField(), object=object_sql, columns=columns)


class JsonArray(Subquery):
    """The rows of a query, the first ones if there is a limit, as a JSON array of objects, in the order of the query.

    array_to_json(ARRAY(SELECT row_to_json(r.*) FROM (SELECT … ORDER BY … LIMIT $1) AS r("body")))
    """

    template = "array_to_json(ARRAY(SELECT %(object)s FROM (%(subquery)s%(limited)s) AS r(%(columns)s)))"

    def __init__(self, queryset: QuerySet[Model, Any], keys: Sequence[str], limit: Parameter | None = None) -> None:
        object_sql, columns = build_json_object_sql(keys)
        limited = "" if limit is None else " LIMIT %s"
        super().__init__(queryset, output_field=JSONField(), object=object_sql, columns=columns, limited=limited)
        self.limits = () if limit is None else (limit,)

    def as_sql(self, compiler: SQLCompiler, connection: Any, *_: Any, **__: Any) -> tuple[str, tuple[Any, ...]]:
        try:
            sql, parameters = super().as_sql(compiler, connection)
        except EmptyResultSet:
            return "'[]'::json", ()
        return sql, (*parameters, *self.limits)


class CountOfRows(Subquery):
    """The number of rows of a query."""

    template = "(SELECT count(*) FROM (%(subquery)s) AS r)"


class RawExpression(Expression):
    """A constant, or a column of one of the tables below such as `page."e0"`: SQL without parameters."""

    def __init__(self, sql: str, output_field: Field[Any, Any] | None = None) -> None:
        super().__init__(output_field=output_field)
        self.sql = sql

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, tuple[Any, ...]]:  # noqa: ARG002 - Django's
        return self.sql, ()


class JsonMembers(Expression):
    """Values as one JSON object. They belong to the row of the enclosing query, or to tables of their own.

    (SELECT row_to_json(r.*) FROM (SELECT "blog_post"."title", total.n FROM … AS total(n)) AS r("title", "totalCount"))
    json_build_object('title', "blog_post"."title")        of a row on a distributed database
    """

    def __init__(self, members: Sequence[tuple[str, Any]], tables: Sequence[Expression] = ()) -> None:
        super().__init__(output_field=JSONField())
        self.keys = [key for key, _ in members]
        self.values: list[Any] = [value for _, value in members] or [TextLiteral("")]
        self.tables = list(tables)

    def get_source_expressions(self) -> list[Any]:
        return [*self.values, *self.tables]

    def set_source_expressions(self, expressions: Sequence[Any]) -> None:
        number = len(self.values)
        self.values, self.tables = list(expressions[:number]), list(expressions[number:])

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, tuple[Any, ...]]:  # noqa: ARG002 - Django's
        compiled = [compiler.compile(expression) for expression in self.get_source_expressions()]
        texts = [sql for sql, _ in compiled]
        parameters = tuple(chain.from_iterable(parameters for _, parameters in compiled))
        number = len(self.values)
        if get_backend().nested(False, True) and self.keys and not self.tables:  # noqa: FBT003 - no subquery without FROM
            members = ", ".join(f"'{key}', {text}" for key, text in zip(self.keys, texts, strict=True))
            return f"json_build_object({members})", parameters
        values = ", ".join(texts[:number])
        tables = ", ".join(texts[number:])
        object_sql, names = build_json_object_sql(self.keys)
        source = f" FROM {tables}" if tables else ""
        sql = f"(SELECT {object_sql} FROM (SELECT {values}{source}) AS r({names}))"  # noqa: S608 - values are parameters
        return sql, parameters


class PageTable(Subquery):
    """The rows of a page as the table `page` with one row.

    The columns of the query are the items of the arrays, then the ordering column and the key. The table has the arrays
    `e0`, `e1` …; with `has_ends` the positions `start_value`, `start_id`, `end_value` and `end_id`; and with `has_more`
    the column `more`, for which it reads one row more than the page has. If the query has the reverse order,
    `reversed_to` is the direction of the page: `DESC` or `ASC`.

    The last two items of an ascending order, with `has_ends` and `has_more` (without the types and `coalesce`):

        (SELECT
           array_to_json((array_agg(p."e0" ORDER BY p."value" ASC, p."id" ASC))
             [greatest(count(*) - $1, 0) + 1:count(*)]) AS "e0",
           (array_agg(p."value" ORDER BY …))[greatest(count(*) - $1, 0) + 1] AS "start_value", …
           count(*) > $1 AS "more"
         FROM (SELECT … ORDER BY "created_at" DESC, "id" DESC LIMIT $1 + 1) AS p("e0", "value", "id")) AS page
    """

    template = "(SELECT %(selected)s FROM (%(subquery)s LIMIT %%s%(one_more)s) AS p(%(columns)s)) AS page"

    def __init__(
        self,
        queryset: QuerySet[Model, Any],
        limit: Parameter,
        *,
        edges: int,
        has_ends: bool,
        has_more: bool,
        reversed_to: str | None,
    ) -> None:
        order = f' ORDER BY p."value" {reversed_to}, p."id" {reversed_to}' if reversed_to else ""
        found, size = "count(*)::int", "%s::int"
        # The additional row is the last one that was read, and therefore the first one of a reversed page.
        start, end = "1", found
        if has_more and reversed_to:
            start = f"greatest({found} - {size}, 0) + 1"
        elif has_more:
            end = f"least({found}, {size})"
        arrays = [f'"e{number}"' for number in range(edges)]
        page = f"[{start}:{end}]" if has_more else ""
        selected = [f"coalesce(array_to_json((array_agg(p.{name}{order})){page}), '[]') AS {name}" for name in arrays]
        if has_ends:
            for column in ("value", "id"):
                values = f'(array_agg(p."{column}"{order}))'
                selected += [f'{values}[{start}] AS "start_{column}"', f'{values}[{end}] AS "end_{column}"']
        if has_more:
            selected.append(f'{found} > {size} AS "more"')
        self.limit = limit
        self.limits_before_query = ", ".join(selected).count("%s")
        super().__init__(
            queryset,
            output_field=JSONField(),
            selected=", ".join(selected),
            one_more="::int + 1" if has_more else "",
            columns=", ".join([*arrays, '"value"', '"id"']),
        )

    def as_sql(self, compiler: SQLCompiler, connection: Any, *_: Any, **__: Any) -> tuple[str, tuple[Any, ...]]:
        sql, parameters = super().as_sql(compiler, connection)
        return sql, (*[self.limit] * self.limits_before_query, *parameters, self.limit)


class CountTable(Subquery):
    """The number of rows of a query, as the table `total` with the column `n`."""

    template = "(SELECT count(*) FROM (%(subquery)s) AS r) AS total(n)"


class HasRow(Subquery):
    """Whether a query has a row. It reads the first row, so that PostgreSQL uses the index of the order.

    From an EXISTS, PostgreSQL drops the order, and may then read the whole table to find that there is no row.
    """

    template = "((%(subquery)s LIMIT 1) IS NOT NULL)"

    def __init__(self, queryset: QuerySet[Model]) -> None:
        super().__init__(queryset.values("pk"), output_field=BooleanField())


class FormattedFunc(Func):
    """A function whose template has the numbers of its arguments: `{0}`. An argument may be there several times."""

    def as_sql(self, compiler: SQLCompiler, *_: Any, **__: Any) -> tuple[str, tuple[Any, ...]]:
        compiled = [compiler.compile(each) for each in self.get_source_expressions()]
        places = [int(number) for _, number, _, _ in FORMATTER.parse(self.template) if number]
        texts = [sql for sql, _ in compiled]
        return self.template.format(*texts), tuple(chain.from_iterable(compiled[place][1] for place in places))


class SignedCursor(FormattedFunc):
    """The signed cursor of a position, as `contentapi.core.pagination` reads it; null if the position is null.

    The arguments are the outer and the inner key of HMAC in hex, then id, value and parent of the position. The text is
    the position as JSON in hex, a dot, and the signature in URL-safe Base64: `5b312c…5d.Zk3…`. It is made twice: that
    costs no more than a subquery, which a distributed database refuses.
    """

    text = "encode(convert_to(json_build_array({2}, {3}, {4})::text, 'UTF8'), 'hex')"
    template = (
        f"CASE WHEN {{2}} IS NOT NULL THEN {text} || '.' || rtrim(translate(encode(sha256(decode({{0}}, 'hex')"
        f" || sha256(decode({{1}}, 'hex') || {text}::bytea)), 'base64'), '+/', '-_'), '=') END"
    )
    output_field = TextField()
