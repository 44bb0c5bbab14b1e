"""Orders of rows that leave nothing open, and what stands before and after a row in one."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q


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
        way = "lt" if self.descending is not backwards else "gt"
        past = Q(**{f"{self.column}__{way}": value}) | Q(**{f"pk__{way}{'e' * inclusive}": pk})
        return Q(**{f"{self.column}__{way}e": value}) & past  # the first condition is for the index
