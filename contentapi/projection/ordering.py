"""Total orders of rows, and the conditions on the rows before and after a position in one."""

from dataclasses import dataclass
from typing import Any

from django.db.models import F, Func, Q, QuerySet, TextField, Value

from contentapi.db.expressions import Term


@dataclass(frozen=True, slots=True)
class Ordering:
    """An order by a column and, for equal values, by the key. Both have one direction: one index serves both ways.
    The column must not be null.
    """

    column: str
    descending: bool = False

    def terms(self, *, backwards: bool = False) -> tuple[str, str]:
        """Return the arguments of `order_by`."""
        sign = "-" if self.descending is not backwards else ""
        return f"{sign}{self.column}", f"{sign}pk"

    def beyond(self, value: Any, pk: Any, *, backwards: bool = False, inclusive: bool = False) -> Q:
        """Return the condition on the rows after a position or, with `backwards`, before it.

        ("blog_post"."created_at", "blog_post"."id") < ($1, $2)
        """
        row = build_row_value(F(self.column), F("pk"))
        lookup = "lt" if self.descending is not backwards else "gt"
        compare: Any = row.get_lookup(f"{lookup}e" if inclusive else lookup)
        return Q(compare(row, build_row_value(value, pk)))


# Every model of the API has this column.
NEWEST_FIRST = Ordering("created_at", descending=True)
OLDEST_FIRST = Ordering("created_at")


def build_row_value(*values: Any) -> Func:
    """Return `(a, b)`. PostgreSQL looks up a comparison of two row values in an index as a whole."""
    expressions = [value if isinstance(value, Term) else Value(value) for value in values]
    return Func(*expressions, template="(%(expressions)s)", output_field=TextField())


def with_total_order(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Return the rows ordered by the key too, unless their order has the key: `ORDER BY "name" ASC, "id" ASC`."""
    default = rows.model._meta.ordering if rows.query.default_ordering and not rows.query.order_by else ()
    names = {str(term).lstrip("-") for term in (*rows.query.order_by, *default)}
    has_key = bool(names & {"pk", rows.model._meta.pk.name})
    ordered = rows.all()
    # Unlike order_by, add_ordering keeps the present terms and a slice.
    ordered.query.add_ordering(*default, *(() if has_key else ("pk",)))
    return ordered
