"""Show other values in place of some columns of some rows, for one request: the texts of a preview.

The table of a query becomes a query of the same columns, so that projections, conditions and orders read the values
that are shown. PostgreSQL makes one query of both, and uses the indexes of the columns that stay:

    SELECT "blog_post"."title" AS "_0" FROM (
      SELECT "blog_post"."id", …,
        CASE WHEN shown."id" IS NULL THEN "blog_post"."title" ELSE shown."title" END AS "title"
      FROM "blog_post" LEFT JOIN json_to_recordset($1::json) AS shown("id" bigint, "title" varchar(200), …)
        ON shown."id" = "blog_post"."id") "blog_post"
    WHERE "blog_post"."id" = $2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.db.models.sql.compiler import SQLCompiler

from contentapi.projection.unions import Branch, UnionTable, reads_union

M = TypeVar("M", bound=Model)


def replace_columns(
    rows: QuerySet[M], records: Any, columns: Sequence[str], copies: Mapping[str, str] | None = None
) -> QuerySet[M]:
    """Return the rows with other values in some columns.

    `records` is a JSON array, or a parameter for one: each object has the id of a row, and its values of `columns`. The
    rows that have a record also have, in each key of `copies`, the value of another column. Call this after
    `filter_by_union`. Statements that lock or write read the table itself.
    """
    replaced = rows.all()
    query = replaced.query
    alias = query.get_initial_alias()
    table = query.alias_map[alias]
    branches = table.branches if isinstance(table, UnionTable) else ()
    query.alias_map[alias] = OverlaidTable(rows.model, alias, branches, records, columns, copies or {})
    return replaced


class OverlaidTable(UnionTable):
    """A table in FROM, or a union, some columns of which have the values of some records."""

    def __init__(
        self,
        model: type[Model],
        alias: str,
        branches: Sequence[Branch],
        records: Any,
        columns: Sequence[str],
        copies: Mapping[str, str],
    ) -> None:
        super().__init__(model._meta.db_table, alias, branches)
        self.model = model
        self.records = records
        self.columns = columns
        self.copies = copies

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, tuple[Any, ...]]:
        inner, parameters = super().as_sql(compiler, connection)
        if not reads_union(compiler):
            return inner, parameters
        quote, alias = connection.ops.quote_name, compiler.quote_name_unless_alias(self.alias)
        fields = {field.attname: field for field in self.model._meta.concrete_fields}
        key = quote(self.model._meta.pk.column)
        selected = [f"{alias}.{quote(name)}" for name in self.list_extra_columns()]
        for name, field in fields.items():
            own = f"{alias}.{quote(field.column)}"
            if name in self.columns:
                shown = f"shown.{quote(field.column)}"
            elif name in self.copies:
                shown = f"{alias}.{quote(fields[self.copies[name]].column)}"
            else:
                selected.append(own)
                continue
            selected.append(f"CASE WHEN shown.{key} IS NULL THEN {own} ELSE {shown} END AS {quote(field.column)}")
        defined = [f"{key} bigint"]
        defined += [f"{quote(fields[name].column)} {fields[name].db_type(connection)}" for name in self.columns]
        sql = (
            f"(SELECT {', '.join(selected)} FROM {inner} LEFT JOIN json_to_recordset(%s::json)"  # noqa: S608 - names
            f" AS shown({', '.join(defined)}) ON shown.{key} = {alias}.{key}) {alias}"
        )
        return sql, (*parameters, self.records)

    def list_extra_columns(self) -> list[str]:
        """Return the columns that the branches of a union have beside those of the table."""
        return [*self.branches[0].extra] if self.branches else []

    def relabeled_clone(self, change_map: Mapping[str | None, str]) -> OverlaidTable:
        alias = change_map.get(self.alias, self.alias)
        return OverlaidTable(self.model, alias, self.branches, self.records, self.columns, self.copies)
