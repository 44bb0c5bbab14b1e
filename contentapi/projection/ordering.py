"""Total orders of rows, and the conditions on the rows before and after a position in one."""

from dataclasses import dataclass
from typing import Any

from django.db.models import F, Func, Q, QuerySet, TextField, Value
from django.db.models.expressions import Combinable, OrderBy
from django.db.models.functions import Coalesce

from contentapi.db.literals import TextLiteral


@dataclass(frozen=True, slots=True)
class Ordering:
    """An order by a column and, for equal values, by the key. Both have one direction: one index serves both ways.

    `null_as` is the value in whose place a nullable column has its NULLs, for example `infinity` for a time.
    """

    column: str
    descending: bool = False
    null_as: str | None = None

    @property
    def name(self) -> tuple[str, str]:
        """The terms of the order as text, which identify it in a cursor: `("-created_at", "-pk")`."""
        sign = "-" if self.descending else ""
        return f"{sign}{self.column}", f"{sign}pk"

    @property
    def value(self) -> F | Coalesce:
        """The expression by which the rows are ordered."""
        if self.null_as is None:
            return F(self.column)
        return Coalesce(self.column, TextLiteral(self.null_as), output_field=TextField())

    def terms(self, *, backwards: bool = False) -> tuple[str | OrderBy, str]:
        """Return the arguments of `order_by`."""
        descending = self.descending is not backwards
        sign = "-" if descending else ""
        term = f"{sign}{self.column}" if self.null_as is None else OrderBy(self.value, descending=descending)
        return term, f"{sign}pk"

    def beyond(self, value: Any, pk: Any, *, backwards: bool = False, inclusive: bool = False) -> Q:
        """Return the condition on the rows after a position or, with `backwards`, before it.

        ("blog_post"."created_at", "blog_post"."id") < ($1, $2)
        """
        row = build_row_value(self.value, F("pk"))
        lookup = "lt" if self.descending is not backwards else "gt"
        compare: Any = row.get_lookup(f"{lookup}e" if inclusive else lookup)
        return Q(compare(row, build_row_value(value, pk)))


def build_row_value(*values: Any) -> Func:
    """Return `(a, b)`. PostgreSQL looks up a comparison of two row values in an index as a whole."""
    expressions = [value if isinstance(value, Combinable) else Value(value) for value in values]
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
