"""The SQL of a connection, which is one JSON object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import BooleanField, ExpressionWrapper, F, Q, QuerySet

from contentapi.core.pagination import ConnectionWindow
from contentapi.db.expressions import Term, TextLiteral
from contentapi.projection.connection_types import PAGE_INFO, ConnectionType
from contentapi.projection.expressions import CountTable, HasRow, JsonMembers, PageTable, RawExpression, SignedCursor
from contentapi.projection.fields import CompilationContext
from contentapi.projection.ordering import Ordering
from contentapi.projection.selections import ExecutionInputs, Parameter, SelectedField

NULL = RawExpression("NULL")


@dataclass
class ConnectionCompiler:
    """Compiles the selection of one connection to an expression.

    `{ totalCount edges { node { title } } pageInfo { hasNextPage } }` becomes

        (SELECT row_to_json(r.*) FROM (SELECT
            total.n,
            page."e0",
            (SELECT row_to_json(r.*) FROM (SELECT page.more) AS r("hasNextPage"))
          FROM (
            SELECT
              coalesce(array_to_json((array_agg(p."e0"))[1:least(count(*)::int, $1::int)]), '[]') AS "e0",
              count(*)::int > $2::int AS "more"
            FROM (
              SELECT (SELECT row_to_json(r.*) FROM (SELECT (…node…)) AS r("node")), "created_at", "id"
              FROM "blog_post" ORDER BY "created_at" DESC, "id" DESC LIMIT $3::int + 1
            ) AS p("e0", "value", "id")
          ) AS page, (SELECT count(*) FROM (SELECT "id" FROM "blog_post") AS r) AS total(n)
        ) AS r("totalCount", "edges", "pageInfo"))

    `window` is that of the request for which the statement is compiled. Only its structure counts: direction, and which
    cursors it has. `read_window` returns the window of each execution. `parent` is the key of the row to which the
    connection belongs, as an expression over that row; `parent_of_row` is the same key over the connection's own rows.
    """

    rows: QuerySet[Any]
    order: Ordering
    window: ConnectionWindow
    connection_type: ConnectionType
    compilation: CompilationContext
    read_window: Callable[[ExecutionInputs], Any]
    parent: Term = NULL
    parent_of_row: Term = NULL
    # What the fields compiled so far need of the table `page`.
    edges: list[JsonMembers] = field(default_factory=list)
    needs_ends: bool = False
    needs_more: bool = False

    def compile(self, selection: Sequence[SelectedField]) -> JsonMembers:
        # The fields come first: they decide whether the tables are needed, and with which columns.
        members = [(selected.key, self.build_connection_field(selected)) for selected in selection]
        tables: list[Any] = []
        if self.edges or self.needs_ends or self.needs_more:
            tables.append(self.build_page_table())
        if any(selected.name == "totalCount" for selected in selection):
            tables.append(CountTable(self.rows.order_by().values("pk")))
        return JsonMembers(members, tables)

    def build_connection_field(self, selected: SelectedField) -> Term:
        match selected.name:
            case "edges":
                self.edges.append(JsonMembers([(each.key, self.build_edge_field(each)) for each in selected.selection]))
                return RawExpression(f'page."e{len(self.edges) - 1}"')
            case "pageInfo":
                return JsonMembers([(each.key, self.build_page_info_field(each)) for each in selected.selection])
            case "totalCount":
                return RawExpression("total.n")
        return TextLiteral(self.connection_type.name)  # __typename

    def build_edge_field(self, selected: SelectedField) -> Term:
        match selected.name:
            case "cursor":
                return self.build_cursor(F(self.order.column), F("pk"), self.parent_of_row)
            case "node":
                return self.connection_type.node.build_object(selected.selection, self.compilation)
        return TextLiteral(self.connection_type.edge.name)

    def build_page_info_field(self, selected: SelectedField) -> Term:
        match selected.name:
            case "hasNextPage":
                return self.has_more(backwards=False)
            case "hasPreviousPage":
                return self.has_more(backwards=True)
            case "startCursor":
                return self.build_cursor(*self.build_page_end("start"), self.parent)
            case "endCursor":
                return self.build_cursor(*self.build_page_end("end"), self.parent)
        return TextLiteral(PAGE_INFO.name)

    def has_more(self, *, backwards: bool) -> Term:
        """Return whether there are rows after the page or, with `backwards`, before it.

        page.more OR ((SELECT "id" FROM "blog_post" WHERE ("created_at", "id") >= ($1, $2) … LIMIT 1) IS NOT NULL)
        """
        cursor = "after" if backwards else "before"
        more = Q()
        # In the reading direction, the page table reads one more row than the page has.
        if backwards is self.window.backwards:
            self.needs_more = True
            more = Q(RawExpression("page.more", BooleanField()))
        # A cursor bounds the window on this side: the row at the cursor and all rows beyond it are not on the page.
        if getattr(self.window, cursor) is not None:
            at_or_beyond = self.order.beyond(*self.build_position(cursor), backwards=backwards, inclusive=True)
            more |= Q(HasRow(self.rows.filter(at_or_beyond).order_by(*self.order.terms(backwards=backwards))))
        return ExpressionWrapper(more, output_field=BooleanField()) if more else RawExpression("false")

    def build_cursor(self, value: Term, key: Term, parent: Term) -> Term:
        inner = Parameter(lambda inputs: self.read_window(inputs).signing_keys[0])
        outer = Parameter(lambda inputs: self.read_window(inputs).signing_keys[1])
        return SignedCursor(outer, inner, key, value, parent)

    def build_page_table(self) -> PageTable:
        rows, backwards = self.rows, self.window.backwards
        if self.window.after is not None:
            rows = rows.filter(self.order.beyond(*self.build_position("after")))
        if self.window.before is not None:
            rows = rows.filter(self.order.beyond(*self.build_position("before"), backwards=True))
        edges = {f"_e{number}": edge for number, edge in enumerate(self.edges)}
        # The last rows are the first ones of the reverse order. The page table puts them back into the order.
        page_order = None
        if backwards:
            page_order = "DESC" if self.order.descending else "ASC"
        return PageTable(
            rows.order_by(*self.order.terms(backwards=backwards)).values(
                **edges, _value=F(self.order.column), _id=F("pk")
            ),
            Parameter(lambda inputs: self.read_window(inputs).size),
            edges=len(edges),
            has_ends=self.needs_ends,
            has_more=self.needs_more,
            reversed_to=page_order,
        )

    def build_page_end(self, name: str) -> tuple[RawExpression, RawExpression]:
        """Return the position of the first or the last row of the page: the ordering column and the key."""
        self.needs_ends = True
        return RawExpression(f'page."{name}_value"'), RawExpression(f'page."{name}_id"')

    def build_position(self, cursor: str) -> tuple[Parameter, Parameter]:
        """Return the position in the cursor `after` or `before`: the ordering column and the key."""
        return (
            Parameter(lambda inputs: getattr(self.read_window(inputs), cursor).value),
            Parameter(lambda inputs: getattr(self.read_window(inputs), cursor).id),
        )
