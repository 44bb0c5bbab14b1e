"""Statements about one post as statements of one shard."""

import re
from collections.abc import Sequence
from typing import Any

from django.db.models.lookups import Exact

from contentapi.db.citus.tables import OF_POSTS

PLACEHOLDER = re.compile("%s|%%")


def bind_post(query: Any, sql: str, parameters: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """Return the SQL of a query with the id of its one post in all subqueries, by which Citus finds their shard:

    … WHERE U0."post_id" = (%s::bigint) … WHERE "blog_post"."id" = (%s)     instead of U0."post_id" = ("blog_post"."id")
    """
    options = query.get_meta()
    column = OF_POSTS.get(options.db_table, options.pk.column)
    terms = query.where.children if query.where.connector == "AND" and not query.where.negated else []
    targets = [term.lhs for term in terms if isinstance(term, Exact) and hasattr(term.lhs, "target")]
    if (query.get_initial_alias(), column) not in [(target.alias, target.target.column) for target in targets]:
        return sql, parameters
    return bind_key(f'"{options.db_table}"."{column}"', " = (%s)", sql, parameters)


def bind_key(key: str, condition: str, sql: str, parameters: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """Return SQL with the value that `condition` gives to a column in all other places of the column in brackets."""
    before, found, rest = sql.partition(f"{key}{condition}")
    if not found or f"{key}{condition}" in rest:
        return sql, parameters
    value = parameters[count_placeholders(before)]
    first, *others = re.split(rf"(?<=[(\[]){re.escape(key)}(?=[)\]])", sql)
    bound = list(parameters[: count_placeholders(first)])
    used = len(bound)
    for part in others:
        number = count_placeholders(part)
        bound += [value, *parameters[used : used + number]]
        used += number
    return "%s::bigint".join([first, *others]), bound


def count_placeholders(sql: str) -> int:
    return PLACEHOLDER.findall(sql).count("%s")
