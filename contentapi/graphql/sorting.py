"""Orders of items as clients send them: an input with a field and a direction.

    EnumType("AuthorSortField", {"name": Ordering("name")})     # each field, in its ascending order
    InputType("AuthorSort", out_type=build_ordering)            # {field: name, direction: desc}

The values are orderings, and not names of columns, because the executor keeps a statement for each ordering.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ariadne import EnumType

from contentapi.projection import Ordering

SORT_DIRECTION = EnumType("SortDirection", {"asc": False, "desc": True})


def build_ordering(given: Mapping[str, Any]) -> Ordering:
    ascending: Ordering = given["field"]
    return replace(ascending, descending=given["direction"])
