"""JSON, built by PostgreSQL: an object from a row, an array from rows.

`row_to_json` of a sub-select names the keys once and prints no spaces; `json`, not `jsonb`, keeps their order.
To-one relations are scalar sub-selects, which PostgreSQL answers by an index look-up for each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db.models import BooleanField, Expression, Field, Func, JSONField, Model, QuerySet, Subquery, TextField
from django.db.models.sql.compiler import SQLCompiler

from contentapi.db.literals import TextLiteral
from contentapi.projection.selections import Parameter

LONGEST_IDENTIFIER = 63  # bytes; PostgreSQL cuts longer ones off


def build_json_object_sql(keys: Sequence[str]) -> tuple[str, str]:
    """Return SQL for the JSON object of a row `r` whose columns belong to these keys, and the list of its columns.

    Keys are GraphQL names and need no escaping. `r.*` is the row even where a column is called `r`.
    """
    if not keys:
        return "'{}'::json", '"0"'
    if max(map(len, keys)) <= LONGEST_IDENTIFIER:
        return "row_to_json(r.*)", ", ".join(f'"{key}"' for key in keys)
    members = " || ',' || ".join(
        f"""'"{key}":' || coalesce(to_json(r."{place}")::text, 'null')""" for place, key in enumerate(keys)
    )
    return f"('{{' || {members} || '}}')::json", ", ".join(f'"{place}"' for place in range(len(keys)))


class JsonObject(Subquery):
    """The one row of a query as a JSON object; null when there is none."""

    template = "(SELECT %(object)s FROM (%(subquery)s) AS r(%(columns)s))"

    def __init__(self, queryset: QuerySet[Model, Any], keys: Sequence[str]) -> None:
        made, columns = build_json_object_sql(keys)
        super().__init__(queryset, output_field=JSONField(), object=made, columns=columns)


class JsonArray(Subquery):
    """The first rows of a query as a JSON array of objects, in the query's order."""

    template = "array_to_json(ARRAY(SELECT %(object)s FROM (%(subquery)s LIMIT %%s) AS r(%(columns)s)))"

    def __init__(self, queryset: QuerySet[Model, Any], keys: Sequence[str], limit: Parameter) -> None:
        made, columns = build_json_object_sql(keys)
        super().__init__(queryset, output_field=JSONField(), object=made, columns=columns)
        self.limit = limit

    def as_sql(self, compiler: SQLCompiler, connection: Any, *_: Any, **__: Any) -> tuple[str, tuple[Any, ...]]:
        try:
            sql, parameters = super().as_sql(compiler, connection)
        except EmptyResultSet:
            return "'[]'::json", ()
        return sql, (*parameters, self.limit)


class CountOfRows(Subquery):
    """How many rows a query has."""

    template = "(SELECT count(*) FROM (%(subquery)s) AS r)"


class RawExpression(Expression):
    """A column of one of the tables below, by the name that it has in there, or a constant."""

    def __init__(self, sql: str, output_field: Field[Any, Any] | None = None) -> None:
        super().__init__(output_field=output_field)
        self.sql = sql

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, tuple[Any, ...]]:  # noqa: ARG002 - Django's
        return self.sql, ()


class JsonRow(Expression):
    """Values as one JSON object. They are of the row of the query around them, or of tables of their own."""

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
        values, tables = ", ".join(texts[: len(self.values)]), ", ".join(texts[len(self.values) :])
        made, names = build_json_object_sql(self.keys)
        source = f" FROM {tables}" if tables else ""
        sql = f"(SELECT {made} FROM (SELECT {values}{source}) AS r({names}))"  # noqa: S608 - values are parameters
        return sql, tuple(chain.from_iterable(parameters for _, parameters in compiled))


class PageTable(Subquery):
    """The first rows of a query in one, as the table `page`: its arrays `e0`, `e1`…, and where wanted its two `ends`.

    The query's columns are the items of each array, and then the `value` and the `id` that it is ordered by. Where it
    `peeks`, one row more is read, and `more` says whether there is one. Where the order that is to come out is the
    reverse, `reversed_to` says which: `DESC` or `ASC`.
    """

    template = "(SELECT %(made)s FROM (%(subquery)s LIMIT %%s%(peek)s) AS p(%(columns)s)) AS page"

    def __init__(
        self,
        queryset: QuerySet[Model, Any],
        limit: Parameter,
        *,
        edges: int,
        ends: bool,
        peeks: bool,
        reversed_to: str | None,
    ) -> None:
        order = f' ORDER BY p."value" {reversed_to}, p."id" {reversed_to}' if reversed_to else ""
        found, wanted = "count(*)::int", "%s::int"
        start, end = "1", found
        if peeks and reversed_to:
            start = f"greatest({found} - {wanted}, 0) + 1"
        elif peeks:
            end = f"least({found}, {wanted})"
        arrays = [f'"e{place}"' for place in range(edges)]
        page = f"[{start}:{end}]" if peeks else ""
        made = [f"coalesce(array_to_json((array_agg(p.{name}{order})){page}), '[]') AS {name}" for name in arrays]
        for column in ("value", "id") if ends else ():
            rows = f'(array_agg(p."{column}"{order}))'
            made += [f'{rows}[{start}] AS "start_{column}"', f'{rows}[{end}] AS "end_{column}"']
        if peeks:
            made.append(f'{found} > {wanted} AS "more"')
        self.before, self.limit = ", ".join(made).count("%s"), limit
        super().__init__(
            queryset,
            output_field=JSONField(),
            made=", ".join(made),
            peek="::int + 1" * peeks,
            columns=", ".join([*arrays, '"value"', '"id"']),
        )

    def as_sql(self, compiler: SQLCompiler, connection: Any, *_: Any, **__: Any) -> tuple[str, tuple[Any, ...]]:
        sql, parameters = super().as_sql(compiler, connection)
        return sql, (*[self.limit] * self.before, *parameters, self.limit)


class CountTable(Subquery):
    """How many rows a query has, as the table `total` with the column `n`."""

    template = "(SELECT count(*) FROM (%(subquery)s) AS r) AS total(n)"


class HasRow(Subquery):
    """Whether a query has a row: it is the query's first, so that the index of its order finds it.

    Of an EXISTS, PostgreSQL drops the order, and may then read the whole table to find that there is no row.
    """

    template = "((%(subquery)s LIMIT 1) IS NOT NULL)"

    def __init__(self, queryset: QuerySet[Model]) -> None:
        super().__init__(queryset.values("pk"), output_field=BooleanField())


class Cursor(Func):
    """The cursor of a place: its position, as `contentapi.core.pagination` reads it, signed; null for no place.

    Takes the outer and the inner key that it is signed with, in hex, and the position's members.
    """

    template = (
        "(SELECT s.text || '.' || rtrim(translate(encode(sha256(decode({}, 'hex')"
        " || sha256(decode({}, 'hex') || s.text::bytea)), 'base64'), '+/', '-_'), '=')"
        " FROM (SELECT encode(convert_to(json_build_array(p.id, p.value, p.parent)::text, 'UTF8'), 'hex')"
        " FROM (SELECT {}, {}, {}) AS p(id, value, parent) WHERE p.id IS NOT NULL) AS s(text))"
    )
    output_field = TextField()

    def as_sql(self, compiler: SQLCompiler, *_: Any, **__: Any) -> tuple[str, tuple[Any, ...]]:
        texts, parameters = zip(*map(compiler.compile, self.get_source_expressions()), strict=True)
        return self.template.format(*texts), tuple(chain.from_iterable(parameters))
