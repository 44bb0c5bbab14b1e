"""SELECT … FOR UPDATE of rows of several shards. Citus locks rows of one shard only.

The rows are read, locked one by one, and read again under their locks.
"""

from typing import Any

from django.db import connections
from django.db.models import Q
from django.db.models.lookups import Exact
from django.db.models.sql.compiler import (
    SQLAggregateCompiler,
    SQLDeleteCompiler,
    SQLInsertCompiler,
    SQLUpdateCompiler,
)
from django.db.models.sql.compiler import SQLCompiler as BaseCompiler

from contentapi.db.citus.tables import OF_POSTS

__all__ = ["SQLAggregateCompiler", "SQLCompiler", "SQLDeleteCompiler", "SQLInsertCompiler", "SQLUpdateCompiler"]


class SQLCompiler(BaseCompiler):
    def execute_sql(self, *arguments: Any, **options: Any) -> Any:
        column = OF_POSTS.get(self.query.model._meta.db_table)
        if self.query.select_for_update and column and not has_value(self.query, column):
            self.query = lock_rows(self.query, column, self.using)
        return super().execute_sql(*arguments, **options)


def has_value(query: Any, column: str) -> bool:
    """Return whether a query has rows of one post only, and so of one shard."""
    conditions = query.where.children if query.where.connector == "AND" and not query.where.negated else ()
    return any(isinstance(each, Exact) and getattr(each.lhs, "target", None) is not None
               and each.lhs.target.column == column and each.lhs.alias == query.get_initial_alias()
               for each in conditions)


def lock_rows(query: Any, column: str, using: str) -> Any:
    """Lock the rows of a query, and return the query of those that are locked, which locks nothing."""
    options = query.model._meta
    field = next(each for each in options.concrete_fields if each.column == column)
    keys = query.clone()
    keys.select_for_update = keys.select_related = False
    keys.clear_deferred_loading()
    keys.clear_select_clause()
    keys.add_fields([field.attname, options.pk.attname])
    suffix = " SKIP LOCKED" if query.select_for_update_skip_locked else ""
    lock = f'SELECT 1 FROM {options.db_table} WHERE "{column}" = %s AND "{options.pk.column}" = %s FOR UPDATE{suffix}'
    locked = []
    with connections[using].cursor() as cursor:
        for post, pk in sorted(set(keys.get_compiler(using).results_iter(tuple_expected=True))):
            cursor.execute(lock, [post, pk])
            if cursor.fetchone():
                locked.append(pk)
    found = query.clone()
    found.select_for_update = False
    found.clear_limits()
    found.add_q(Q(pk__in=locked))
    return found
