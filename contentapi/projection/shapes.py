"""What of a QuerySet is structure, and what is value: queries of one shape share a statement."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import BigIntegerField, Field, Model, QuerySet
from django.db.models.expressions import Col
from django.db.models.fields.related_lookups import RelatedExact
from django.db.models.lookups import (
    Exact,
    GreaterThan,
    GreaterThanOrEqual,
    IntegerFieldExact,
    IsNull,
    LessThan,
    LessThanOrEqual,
)
from django.db.models.sql.where import WhereNode

COMPARISONS = {Exact, IntegerFieldExact, RelatedExact, GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual}
VALUES = {str, int, datetime}
LARGEST = 2**31 - 1  # past a column's range Django leaves a comparison out; the largest of the smallest numbers we use
LARGEST_BIG = 2**63 - 1
SIMPLE: dict[
    str, Any
] = {  # what these attributes of a Query are while it does nothing beyond what `shape_of` understands
    "annotations": {},
    "combinator": None,
    "distinct": False,
    "extra": {},
    "extra_order_by": (),
    "group_by": None,
}


def shape_of(queryset: QuerySet[Model], values: list[Any]) -> tuple[Any, ...] | None:
    """Return a QuerySet's shape, and append its values to `values` in the order they have in the SQL.

    Understands comparisons of the model's own columns with plain values, AND, OR and NOT, an order, and a slice:
    the vocabulary of selectors. Returns None for anything else, which is compiled anew each time.
    """
    query = queryset.query
    if len(query.alias_map) > 1 or any(getattr(query, name) != plain for name, plain in SIMPLE.items()):
        return None
    where = shape_of_condition(query.where, values)
    if where is None or not all(isinstance(term, str) for term in query.order_by):
        return None
    return queryset.model, where, query.order_by, query.standard_ordering, query.low_mark > 0, query.high_mark is None


def shape_of_condition(node: WhereNode, values: list[Any]) -> tuple[Any, ...] | None:
    parts: list[Any] = [node.connector, node.negated]
    for child in node.children:
        part = shape_of_condition(child, values) if type(child) is WhereNode else shape_of_comparison(child, values)
        if part is None:
            return None
        parts.append(part)
    return tuple(parts)


def shape_of_comparison(comparison: Any, values: list[Any]) -> tuple[Any, ...] | None:
    if type(comparison) is IsNull and type(comparison.lhs) is Col:
        return IsNull, comparison.lhs.target, comparison.rhs
    if type(comparison) not in COMPARISONS or type(comparison.lhs) is not Col or type(comparison.rhs) not in VALUES:
        return None
    value, column = comparison.rhs, comparison.lhs.target
    if type(value) is int and not 0 <= value <= (LARGEST_BIG if is_big(column) else LARGEST):
        return None
    values.append(value)
    return type(comparison), column


def is_big(column: Field[Any, Any]) -> bool:
    return isinstance(getattr(column, "target_field", column), BigIntegerField)
