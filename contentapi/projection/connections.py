"""Relay connections in SQL: pages of rows in both directions, page information and the total count.

    POST_CONNECTION = ConnectionType(POST)              # the SDL type PostConnection, with edges of type PostEdge
    "commentsConnection": Connection("comments", rows)  # a field of a projection: the pages of a to-many relation
    ConnectionQuery(rows, order, window)                # what a resolver returns for a root field

A connection is one JSON object, selected from at most two derived tables: `page`, a row with the arrays and the two
ends of the page, and `total`, a row with the count. Each is in the statement only if the selection needs it. PostgreSQL
writes and signs the cursors. `ConnectionCompiler` shows a statement.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db.models import BooleanField, Case, ExpressionWrapper, F, Func, JSONField, Model, Q, QuerySet, When
from django.db.models.expressions import Combinable

from contentapi.core.errors import ApiError
from contentapi.core.identity import Actor
from contentapi.core.pagination import ConnectionWindow, build_cursor_error, parse_connection_args
from contentapi.db.literals import TextLiteral
from contentapi.projection.expressions import CountTable, HasRow, JsonMembers, PageTable, RawExpression, SignedCursor
from contentapi.projection.fields import (
    CompilationContext,
    ProjectedField,
    Projection,
    SelectRelated,
    build_related_rows,
    list_arguments,
    parametrise_arguments,
    select_every_row,
)
from contentapi.projection.ordering import Ordering
from contentapi.projection.querysets import Rows
from contentapi.projection.sdl import ProjectionError, SdlField, get_model_field, join_names
from contentapi.projection.selections import Arguments, ExecutionInputs, Parameter, SelectedField, SelectedFieldError

ARGUMENTS = {"first", "after", "last", "before", "order_by"}
NULL = RawExpression("NULL")


class RelayType:
    """An SDL type whose fields and their types Relay's specification prescribes."""

    def __init__(self, name: str, fields: Mapping[str, str]) -> None:
        self.name = name
        self.fields = fields

    def bind(self, sdl: Mapping[str, SdlField]) -> None:
        """Check the type in the SDL. Raises `ProjectionError`, which names type and field."""
        declared = {name: sdl_field.written for name, sdl_field in sdl.items()}
        for name in [*declared, *self.fields]:
            if declared.get(name) != self.fields.get(name):
                actual, required = declared.get(name, "missing"), self.fields.get(name, "missing")
                raise ProjectionError(f"{self.name}.{name} is {actual} in the SDL, but {required} in a connection.")


PAGE_INFO = RelayType(
    "PageInfo",
    {"hasNextPage": "Boolean!", "hasPreviousPage": "Boolean!", "startCursor": "String", "endCursor": "String"},
)


class ConnectionType(RelayType):
    """The connection type of a projected type."""

    def __init__(self, node: Projection) -> None:
        self.node = node
        self.model = node.model
        self.edge = RelayType(f"{node.name}Edge", {"cursor": "String!", "node": f"{node.name}!"})
        fields = {"edges": f"[{self.edge.name}!]!", "pageInfo": "PageInfo!", "totalCount": "Int!"}
        super().__init__(f"{node.name}Connection", fields)


@dataclass(frozen=True, slots=True)
class ConnectionQuery:
    """A window of rows, in an order that replaces their own."""

    rows: Rows[Any]
    order: Ordering
    window: ConnectionWindow

    @property
    def cache_key(self) -> Hashable:
        key, window = self.rows.cache_key, self.window
        return key and (key, self.order, window.backwards, window.after is None, window.before is None)


def build_ordered_connection(field: str, rows: Rows[Any], order: Ordering, **window: Any) -> ConnectionQuery:
    """Return a page of a root field that has no arguments besides `orderBy` and those of the page.

    Raises `Malformed`.
    """
    return ConnectionQuery(rows, order, parse_connection_args(field, {"orderBy": order.terms()}, **window))


@dataclass(frozen=True, slots=True)
class ConnectionArguments:
    """The parsed arguments of a nested connection, of which each row has its own.

    `parent` is the id of the row to which the connection belongs, as the cursors state it; None without a cursor. If
    the connection belongs to another row, PostgreSQL returns the random marker `refusal` instead of it.
    """

    selected: SelectedField
    order: Ordering
    window: ConnectionWindow
    criteria: Arguments
    parent: int | None
    refusal: str


class Connection(ProjectedField):
    """A to-many relation as a connection.

    `rows(queryset, actor, **arguments)` filters the related rows, as that of `ToMany` does. Its arguments are those of
    the SDL that not all connections have; cursors are valid for the same arguments only. The SDL has the default order.
    `require(actor)` raises an `ApiError` if the actor may not list the rows. It is called when a statement is compiled,
    so it may depend on the actor's role, scopes and kind of credential only.
    """

    def __init__(
        self,
        relation: str,
        rows: SelectRelated = select_every_row,
        *,
        require: Callable[[Actor], None] = lambda _: None,
    ) -> None:
        self.relation = relation
        self.rows = rows
        self.require = require
        self.names = list_arguments(rows)

    def bind(self, model: type[Model], sdl: SdlField) -> None:
        self.related = build_related_rows(model, self.relation)
        self.key = get_model_field(model, self.relation).field
        if not isinstance(sdl.projection, ConnectionType) or sdl.projection.model is not self.related.model:
            raise ProjectionError(
                f"the SDL has {sdl.type_name}, which is not a connection of {self.related.model.__name__}"
            )
        wanted = ARGUMENTS.union(self.names)
        if set(sdl.arguments) != wanted:
            raise ProjectionError(
                f"the SDL's arguments are {join_names(sdl.arguments)}; the connection's are {join_names(wanted)}"
            )
        self.connection_type = sdl.projection
        self.default_order = sdl.arguments["order_by"]
        if not isinstance(self.default_order, Ordering):
            raise ProjectionError("orderBy needs a default in the SDL, and its values must be orders")
        self.name = f"{model._meta.label}.{self.relation}"

    def build_expression(self, selected: SelectedField, compilation: CompilationContext) -> Combinable:
        """Return the connection, or the marker where its cursors belong to another row:

        CASE WHEN "blog_post"."id" = $1 THEN (SELECT row_to_json(r.*) FROM …) ELSE to_json($2::text) END
        """
        try:
            self.require(compilation.actor)
        except ApiError as error:
            raise SelectedFieldError(selected, error) from None
        arguments, read = compilation.bind_arguments(selected, partial(self.parse_arguments, selected))
        criteria = parametrise_arguments(self.names, arguments.criteria, lambda inputs: read(inputs).criteria)
        compiler = ConnectionCompiler(
            self.rows(self.related, compilation.actor, **criteria),
            arguments.order,
            arguments.window,
            self.connection_type,
            compilation,
            lambda inputs: read(inputs).window,
            parent=F(self.key.target_field.name),
            parent_of_row=F(self.key.attname),
        )
        connection = compiler.compile(selected.selection)
        if arguments.parent is None:
            return connection
        # Whether the cursor is of this row is known only when the statement runs: the parent's id is a column.
        is_own = Q(**{self.key.target_field.name: Parameter(lambda inputs: read(inputs).parent)})
        refusal = Func(Parameter(lambda inputs: read(inputs).refusal), template="to_json(%(expressions)s::text)")
        return Case(When(is_own, then=connection), default=refusal, output_field=JSONField())

    def parse_arguments(self, selected: SelectedField, arguments: Arguments) -> ConnectionArguments:
        """Raises `Malformed`."""
        order = arguments.get("order_by") or self.default_order
        values = {name: arguments.get(name) for name in ("first", "after", "last", "before")}
        criteria = {name: arguments.get(name) for name in self.names}
        given = {name: str(value) for name, value in criteria.items() if value is not None}
        window = parse_connection_args(self.name, {**given, "orderBy": order.terms()}, **values)
        parents = {position.parent for position in (window.after, window.before) if position is not None}
        if len(parents) > 1:
            raise build_cursor_error("before")
        return ConnectionArguments(selected, order, window, criteria, next(iter(parents), None), secrets.token_hex(16))


def has_unverified_cursor(arguments: Sequence[Any]) -> bool:
    """Return whether a nested connection has a cursor. Only the result shows whether it belongs to the right row."""
    return any(isinstance(each, ConnectionArguments) and each.parent is not None for each in arguments)


def reject_foreign_cursors(arguments: Sequence[Any], texts: Sequence[bytes]) -> None:
    """Raise `SelectedFieldError` if a result contains the marker of a connection with another row's cursor."""
    for each in arguments:
        if isinstance(each, ConnectionArguments) and each.parent is not None:
            refusal = each.refusal.encode()
            if any(refusal in text for text in texts):
                raise SelectedFieldError(each.selected, build_cursor_error("after" if each.window.after else "before"))


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
    parent: Combinable = NULL
    parent_of_row: Combinable = NULL
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

    def build_connection_field(self, selected: SelectedField) -> Combinable:
        match selected.name:
            case "edges":
                self.edges.append(JsonMembers([(each.key, self.build_edge_field(each)) for each in selected.selection]))
                return RawExpression(f'page."e{len(self.edges) - 1}"')
            case "pageInfo":
                return JsonMembers([(each.key, self.build_page_info_field(each)) for each in selected.selection])
            case "totalCount":
                return RawExpression("total.n")
        return TextLiteral(self.connection_type.name)  # __typename

    def build_edge_field(self, selected: SelectedField) -> Combinable:
        match selected.name:
            case "cursor":
                return self.build_cursor(F(self.order.column), F("pk"), self.parent_of_row)
            case "node":
                return JsonMembers(self.connection_type.node.build_expressions(selected.selection, self.compilation))
        return TextLiteral(self.connection_type.edge.name)

    def build_page_info_field(self, selected: SelectedField) -> Combinable:
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

    def has_more(self, *, backwards: bool) -> Combinable:
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

    def build_cursor(self, value: Combinable, key: Combinable, parent: Combinable) -> SignedCursor:
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
