"""Statements about one post as statements of one shard."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models.lookups import Exact

from contentapi.db.citus.tables import OF_POSTS, ON_EACH_NODE

PLACEHOLDER = re.compile("%s|%%")


def has_value(query: Any, column: str) -> bool:
    """Return whether all rows of a query have one value in a column."""
    place = (query.get_initial_alias(), column)
    targets = [term.lhs for term in list_terms(query.where) if isinstance(term, Exact) and hasattr(term.lhs, "target")]
    return any((target.alias, target.target.column) == place for target in targets)


def list_terms(node: Any) -> Iterator[Any]:
    """Yield the conditions that all rows meet."""
    if not hasattr(node, "children"):
        yield node
    elif not node.negated and (node.connector == "AND" or len(node.children) == 1):
        for child in node.children:
            yield from list_terms(child)


def bind_post(query: Any, sql: str, parameters: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """Return the SQL of a query with the id of its one row in all subqueries, by which Citus finds their shard:

    … WHERE U0."post_id" = (%s::bigint) … WHERE "blog_post"."id" = (%s)     instead of U0."post_id" = ("blog_post"."id")
    """
    table = query.get_meta().db_table
    key = OF_POSTS.get(table, query.get_meta().pk.column)
    if table not in (*OF_POSTS, *ON_EACH_NODE) or not has_value(query, key):
        return sql, parameters
    return bind_key(f'"{table}"."{key}"', " = (%s)", sql, parameters)


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
