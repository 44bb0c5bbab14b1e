"""Orders of rows that leave nothing open, and what stands before and after a place in one."""

from dataclasses import dataclass
from typing import Any

from django.db.models import F, Func, Q, QuerySet, TextField, Value
from django.db.models.expressions import Combinable
from django.db.models.lookups import GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual

COMPARISONS = {  # by whether the places that are looked for are lower ones, and whether the place itself counts
    (True, False): LessThan,
    (True, True): LessThanOrEqual,
    (False, False): GreaterThan,
    (False, True): GreaterThanOrEqual,
}


@dataclass(frozen=True, slots=True)
class Ordering:
    """By a column and, between equals, by the key: both in one direction, so that an index carries it both ways."""

    column: str
    descending: bool = False

    def terms(self, *, backwards: bool = False) -> tuple[str, str]:
        sign = "-" if self.descending is not backwards else ""
        return f"{sign}{self.column}", f"{sign}pk"

    def beyond(self, value: Any, pk: Any, *, backwards: bool = False, inclusive: bool = False) -> Q:
        """Return the condition on rows that stand after a place: before it, where `backwards`, and with it itself."""
        comparison = COMPARISONS[self.descending is not backwards, inclusive]
        return Q(comparison(row_value(F(self.column), F("pk")), row_value(value, pk)))


def row_value(*values: Any) -> Func:
    """Return values that are compared as one: PostgreSQL holds such a comparison to an index as a whole."""
    said = [value if isinstance(value, Combinable) else Value(value) for value in values]
    return Func(*said, template="(%(expressions)s)", output_field=TextField())


def with_total_order(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Return the rows in an order that leaves nothing open: the key decides between equals."""
    default = rows.model._meta.ordering if rows.query.default_ordering and not rows.query.order_by else ()
    names = {str(term).lstrip("-") for term in (*rows.query.order_by, *default)}
    ordered = rows.all()
    # Unlike order_by, add_ordering keeps the terms that are there, and a slice.
    ordered.query.add_ordering(*default, *({"pk", rows.model._meta.pk.name}.isdisjoint(names) * ["pk"]))
    return ordered
