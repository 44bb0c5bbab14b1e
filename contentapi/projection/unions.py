"""Read rows that meet one of several conditions with one index scan for each condition.

PostgreSQL reads `WHERE public OR own ORDER BY created_at LIMIT 10` from the index of the order and drops every row that
meets neither condition: with many of these, a page takes as long as reading all of them. As a union of two ordered
queries, it merges two index scans and stops after ten rows:

    SELECT ... FROM ((SELECT "blog_post"."id", ... WHERE public ORDER BY "blog_post"."created_at" DESC, ...)
      UNION ALL (SELECT "blog_post"."id", ... WHERE own ORDER BY "blog_post"."created_at" DESC, ...)) "blog_post"
    ORDER BY "blog_post"."created_at" DESC, ... LIMIT 10

PostgreSQL applies the other conditions of the query inside of each branch. The order has to be repeated there: without
it, PostgreSQL does not consider an index that has the order.

A branch can read its rows through another table, which has copies of the columns of the order, so that positions in the
order are looked up in its index too. The branches can have more columns than the table, by which the query filters:

    (SELECT "blog_coauthorship"."post_id", "blog_post"."title", … "blog_coauthorship"."author_id" AS "byline"
      FROM "blog_post" INNER JOIN "blog_coauthorship" ON … ORDER BY "blog_coauthorship"."created_at" DESC, …)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple, TypeVar

from django.core.exceptions import FullResultSet
from django.db.models import BigIntegerField, BooleanField, Expression, ExpressionWrapper, F, Model, Q, QuerySet
from django.db.models.sql.compiler import SQLCompiler, SQLDeleteCompiler, SQLUpdateCompiler
from django.db.models.sql.datastructures import BaseTable

M = TypeVar("M", bound=Model)


class Branch(NamedTuple):
    """Rows of a union. `columns` has the paths of the columns that are read from another table, by names of fields.

    `extra` has the paths of more columns, by their names: the same names in each branch.
    """

    rows: QuerySet[Any]
    columns: Mapping[str, str] = {}
    extra: Mapping[str, str] = {}

    def build_query(self, order: Sequence[str]) -> Any:
        """Return the query of the branch in an order of the model's fields."""
        terms = [f"{'-' * term.startswith('-')}{self.find_path(term.removeprefix('-'))}" for term in order]
        rows = self.rows.order_by(*terms)
        if not self.columns and not self.extra:
            return rows.query
        paths = [self.find_path(field.attname) for field in rows.model._meta.concrete_fields]
        extra = {name: F(path) for name, path in self.extra.items()}
        return rows.annotate(**extra).values_list(*paths, *extra).query

    def find_path(self, name: str) -> str:
        return self.columns.get(self.rows.model._meta.pk.attname if name == "pk" else name, name)


def filter_by_union(rows: QuerySet[M], parts: Sequence[Q | Branch], condition: Q | None = None) -> QuerySet[M]:
    """Return those of the rows that meet one of some conditions, or are in one of some branches.

    The parts must exclude each other. `condition` means the same, for statements that cannot read a union; by default
    one of the conditions. The result is a QuerySet like any other, except that `|` must not combine it with another
    one.
    """
    whole = reduce(or_, [part for part in parts if isinstance(part, Q)]) if condition is None else condition
    if len(parts) == 1 and isinstance(parts[0], Q):
        return rows.filter(whole)
    find = rows.model._base_manager.filter
    branches = [part if isinstance(part, Branch) else Branch(find(part)) for part in parts]
    united = rows.filter(UnionCondition(whole, output_field=BooleanField()))
    query = united.query
    alias = query.get_initial_alias()
    if isinstance(query.alias_map[alias], UnionTable):
        raise TypeError("These rows are already a union, whose conditions would be lost.")
    query.alias_map[alias] = UnionTable(query.alias_map[alias].table_name, alias, branches)
    return united


class UnionTable(BaseTable):
    """A table in FROM that has only the rows of some branches. The module docstring shows its SQL.

    Django has no public way to select from a subquery. `alias_map` has the tables of FROM by their aliases.
    """

    def __init__(self, table_name: str, alias: str, branches: Sequence[Branch]) -> None:
        super().__init__(table_name, alias)
        self.alias = alias
        self.branches = branches

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, tuple[Any, ...]]:
        if not self.branches or not reads_union(compiler):
            return super().as_sql(compiler, connection)
        texts: list[str] = []
        parameters: tuple[Any, ...] = ()
        for branch in self.branches:
            query = branch.build_query(get_column_order(compiler, branch.rows.model))
            sql, values = query.get_compiler(connection=connection).as_sql()
            texts.append(f"({sql})")
            parameters += values
        return f"({' UNION ALL '.join(texts)}) {compiler.quote_name_unless_alias(self.alias)}", parameters

    def relabeled_clone(self, change_map: Mapping[str | None, str]) -> UnionTable:
        return UnionTable(self.table_name, change_map.get(self.alias, self.alias), self.branches)


class UnionColumn(Expression):
    """A column that only the branches of a union have: `"blog_post"."byline"`."""

    def __init__(self, name: str, alias: str = "") -> None:
        super().__init__(output_field=BigIntegerField())
        self.name = name
        self.alias = alias

    def resolve_expression(self, query: Any = None, *_: Any, **__: Any) -> UnionColumn:
        # An enclosing query resolves it again.
        return self if self.alias else UnionColumn(self.name, query.get_initial_alias())

    def relabeled_clone(self, change_map: Mapping[str, str]) -> UnionColumn:
        return UnionColumn(self.name, change_map.get(self.alias, self.alias))

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, tuple[Any, ...]]:
        return f"{compiler.quote_name_unless_alias(self.alias)}.{connection.ops.quote_name(self.name)}", ()


class UnionCondition(ExpressionWrapper):  # type: ignore[type-arg]  # a generic type in the stubs only
    """The conditions of a union, joined by OR: for statements that do not read the union.

    Without it, an UPDATE or a DELETE, which have no FROM, would reach all rows.
    """

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, tuple[Any, ...]]:
        if reads_union(compiler):
            raise FullResultSet
        return super().as_sql(compiler, connection)


def reads_union(compiler: SQLCompiler) -> bool:
    """Return whether the statement selects from a union. PostgreSQL cannot lock the rows of a union (FOR UPDATE)."""
    query = compiler.query
    if isinstance(compiler, SQLUpdateCompiler | SQLDeleteCompiler) or query.select_for_update:
        return False
    return isinstance(query.alias_map.get(query.base_table), UnionTable)


def get_column_order(compiler: SQLCompiler, model: type[Model]) -> list[str]:
    """Return the order of the statement, or no order if it has a term that is not a column of the table."""
    query = compiler.query
    columns = {"pk", *(field.name for field in model._meta.concrete_fields)}
    terms = [term for term in query.order_by if isinstance(term, str) and term.removeprefix("-") in columns]
    return terms if query.standard_ordering and len(terms) == len(query.order_by) else []
