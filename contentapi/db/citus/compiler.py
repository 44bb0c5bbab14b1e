"""Statements of the ORM that Citus refuses: locks of rows of several shards, and updates of the id of the post.

The rows are found, locked one by one, and read under their locks.
"""

from typing import Any

from django.db import connections
from django.db.models import Q
from django.db.models.sql.compiler import SQLAggregateCompiler, SQLDeleteCompiler, SQLInsertCompiler
from django.db.models.sql.compiler import SQLCompiler as BaseCompiler
from django.db.models.sql.compiler import SQLUpdateCompiler as BaseUpdateCompiler

from contentapi.db.citus.shards import has_value
from contentapi.db.citus.tables import OF_POSTS

__all__ = ["SQLAggregateCompiler", "SQLCompiler", "SQLDeleteCompiler", "SQLInsertCompiler", "SQLUpdateCompiler"]


class SQLCompiler(BaseCompiler):
    def execute_sql(self, *arguments: Any, **options: Any) -> Any:
        column = OF_POSTS.get(self.query.get_meta().db_table, "") if self.query.select_for_update else ""
        if column and not has_value(self.query, column):
            self.query = lock_rows(self.query, column, str(self.using))
        return super().execute_sql(*arguments, **options)


class SQLUpdateCompiler(BaseUpdateCompiler):
    def as_sql(self, *arguments: Any, **options: Any) -> Any:
        """Leave the column out that determines the shard: Citus refuses it, although `save` does not change it."""
        query: Any = self.query
        column = OF_POSTS.get(query.get_meta().db_table)
        query.values = [value for value in query.values if value[0].column != column]
        return super().as_sql(*arguments, **options)


def lock_rows(query: Any, column: str, using: str) -> Any:
    """Lock the rows of a query. Return the query of those that are locked, which locks nothing."""
    options = query.get_meta()
    post = next(field for field in options.concrete_fields if field.column == column)
    keys = query.clone()
    keys.select_for_update = keys.select_related = False
    keys.clear_deferred_loading()
    keys.clear_select_clause()
    keys.add_fields([post.attname, options.pk.attname])
    suffix = " SKIP LOCKED" if query.select_for_update_skip_locked else ""
    condition = f'"{column}" = %s AND "{options.pk.column}" = %s'
    lock = f"SELECT 1 FROM {options.db_table} WHERE {condition} FOR UPDATE{suffix}"  # noqa: S608 - names
    locked = []
    with connections[using].cursor() as cursor:
        for post_id, pk in sorted(set(keys.get_compiler(using).results_iter(tuple_expected=True))):
            cursor.execute(lock, [post_id, pk])
            if cursor.fetchone():
                locked.append(pk)
    found = query.clone()
    found.select_for_update = False
    found.clear_limits()
    found.add_q(Q(pk__in=locked))
    return found
