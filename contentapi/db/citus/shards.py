"""Statements about one object as statements of one shard."""

import re
from collections.abc import Sequence
from typing import Any

from django.db.models.lookups import Exact

from contentapi.db.placement import get_shard_key


def bind_shard(query: Any, sql: str, parameters: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """Return the SQL of a query with the id of its one object in all subqueries. Citus finds their shard by it:

    … WHERE U0."post_id" = (%s::bigint) … WHERE "blog_post"."id" = (%s)     instead of U0."post_id" = ("blog_post"."id")
    """
    options = query.get_meta()
    column = get_shard_key(options)
    targets = [term.lhs for term in query.where.children if isinstance(term, Exact) and hasattr(term.lhs, "target")]
    if (query.get_initial_alias(), column) not in [(target.alias, target.target.column) for target in targets]:
        return sql, parameters
    return bind_key(f'"{options.db_table}"."{column}"', " = (%s)", sql, parameters)


def bind_key(key: str, condition: str, sql: str, parameters: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """Return SQL with the value that `condition` gives to a column in all other places of the column in brackets."""
    before, found, rest = sql.partition(f"{key}{condition}")
    if not found or f"{key}{condition}" in rest:
        return sql, parameters
    value, bound, place = parameters[count_placeholders(before)], list(parameters), 0
    parts = re.split(rf"(?<=[(\[]){re.escape(key)}(?=[)\]])", sql)
    for number, part in enumerate(parts[:-1]):
        place += count_placeholders(part)
        bound.insert(place + number, value)
    return "%s::bigint".join(parts), bound


def count_placeholders(sql: str) -> int:
    return sql.replace("%%", "").count("%s")
