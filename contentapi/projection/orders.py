"""Orders of rows that leave nothing open, and what stands before and after a place in one."""

from dataclasses import dataclass
from typing import Any

from django.db.models import F, Func, Q, TextField, Value
from django.db.models.expressions import Combinable
from django.db.models.lookups import GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual

COMPARISONS = {  # by whether the places that are looked for are lower ones, and whether the place itself counts
    (True, False): LessThan,
    (True, True): LessThanOrEqual,
    (False, False): GreaterThan,
    (False, True): GreaterThanOrEqual,
}


@dataclass(frozen=True, slots=True)
class Order:
    """By a column and, between equals, by the key: both in one direction, so that an index carries it both ways."""

    column: str
    descending: bool = False

    def terms(self, *, backwards: bool = False) -> tuple[str, str]:
        sign = "-" if self.descending is not backwards else ""
        return f"{sign}{self.column}", f"{sign}pk"

    def beyond(self, value: Any, pk: Any, *, backwards: bool = False, inclusive: bool = False) -> Q:
        """Return the condition on rows that stand after a place: before it, where `backwards`, and with it itself."""
        comparison = COMPARISONS[self.descending is not backwards, inclusive]
        return Q(comparison(row(F(self.column), F("pk")), row(value, pk)))


def row(*values: Any) -> Func:
    """Return values that are compared as one: PostgreSQL holds such a comparison to an index as a whole."""
    said = [value if isinstance(value, Combinable) else Value(value) for value in values]
    return Func(*said, template="(%(expressions)s)", output_field=TextField())
