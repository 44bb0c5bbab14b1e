"""Orders of items as clients send them: an input with a field and a direction.

    build_sort("Author", {"name": Ordering("name")})  # each field, in its ascending order

The values are orderings, and not names of columns, because the executor keeps a statement for each ordering.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ariadne import EnumType, InputType

from contentapi.projection import Ordering

SORT_DIRECTION = EnumType("SortDirection", {"asc": False, "desc": True})


def build_ordering(given: Mapping[str, Any]) -> Ordering:
    ascending: Ordering = given["field"]
    return replace(ascending, descending=given["direction"])


def build_sort(name: str, fields: Mapping[str, Ordering]) -> tuple[EnumType, InputType]:
    """Return the enum of the fields by which a type is ordered, and the input of an order."""
    return EnumType(f"{name}SortField", dict(fields)), InputType(f"{name}Sort", out_type=build_ordering)
