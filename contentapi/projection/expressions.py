"""JSON, built by PostgreSQL: an object from a row, an array from rows.

`row_to_json` of a sub-select names the keys once and prints no spaces; `json`, not `jsonb`, keeps their order.
To-one relations are scalar sub-selects, which PostgreSQL answers by an index look-up for each row.
"""

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db.models import Expression, JSONField, Model, QuerySet, Subquery, TextField
from django.db.models.sql.compiler import SQLCompiler

from contentapi.projection.selections import Parameter

LONGEST_IDENTIFIER = 63  # bytes; PostgreSQL cuts longer ones off


class Constant(Expression):
    """A text of our own: a literal in the statement, so that it never varies."""

    def __init__(self, text: str) -> None:
        super().__init__(output_field=TextField())
        self.text = text

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, tuple[Any, ...]]:  # noqa: ARG002 - Django's
        return "'{}'".format(self.text.replace("'", "''").replace("%", "%%")), ()


def json_object(keys: Sequence[str]) -> tuple[str, str]:
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
        made, columns = json_object(keys)
        super().__init__(queryset, output_field=JSONField(), object=made, columns=columns)


class JsonArray(Subquery):
    """The first rows of a query as a JSON array of objects, in the query's order."""

    template = "array_to_json(ARRAY(SELECT %(object)s FROM (%(subquery)s LIMIT %%s) AS r(%(columns)s)))"

    def __init__(self, queryset: QuerySet[Model, Any], keys: Sequence[str], limit: Parameter) -> None:
        made, columns = json_object(keys)
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
