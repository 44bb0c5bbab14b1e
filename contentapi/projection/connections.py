"""Connections, as Relay's specification has them: pages of rows in either direction, what is around them, their number.

    POST_CONNECTION = ConnectionType(POST)          # the SDL's PostConnection, of PostEdges whose nodes are Posts
    "commentsConnection": Connection("comments")    # among a projection's fields: a to-many relation, page by page
    Connected(rows, order, window)                  # what a resolver returns for a root field

A connection is one JSON object over two tables at most: `page`, which holds the rows of the page in one, and `total`.
Each is there only where what is selected needs it. PostgreSQL writes and signs the cursors too.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import BooleanField, Case, ExpressionWrapper, F, Func, JSONField, Model, Q, QuerySet, When
from django.db.models.expressions import Combinable

from contentapi.core.errors import Malformed
from contentapi.core.pagination import ConnectionWindow, cursor_error, parse_connection_args
from contentapi.db.literals import TextLiteral
from contentapi.projection.expressions import CountTable, Cursor, HasRow, JsonRow, PageTable, RawExpression
from contentapi.projection.fields import Compilation, ProjectedField, Projection, build_related_rows
from contentapi.projection.ordering import Ordering
from contentapi.projection.sdl import ProjectionError, SdlField, get_model_field, join_names
from contentapi.projection.selections import Arguments, ExecutionInputs, Parameter, SelectedField, SelectedFieldError

ARGUMENTS = {"first", "after", "last", "before", "order_by"}


class RelayType:
    """An SDL type whose fields Relay's specification prescribes, each with its type."""

    def __init__(self, name: str, fields: Mapping[str, str]) -> None:
        self.name = name
        self.fields = fields

    def bind(self, sdl: Mapping[str, SdlField]) -> None:
        """Hold the SDL to what is prescribed. Raises `ProjectionError`, naming type and field."""
        said = {name: found.written for name, found in sdl.items()}
        for name in [*said, *self.fields]:
            if said.get(name) != self.fields.get(name):
                have, need = said.get(name, "missing"), self.fields.get(name, "missing")
                raise ProjectionError(f"{self.name}.{name} is {have} in the SDL, and {need} in a connection.")


PAGE_INFO = RelayType(
    "PageInfo",
    {"hasNextPage": "Boolean!", "hasPreviousPage": "Boolean!", "startCursor": "String", "endCursor": "String"},
)


class ConnectionType(RelayType):
    """The connections of a projected type."""

    def __init__(self, node: Projection) -> None:
        self.node = node
        self.edge = RelayType(f"{node.name}Edge", {"cursor": "String!", "node": f"{node.name}!"})
        fields = {"edges": f"[{self.edge.name}!]!", "pageInfo": "PageInfo!", "totalCount": "Int!"}
        super().__init__(f"{node.name}Connection", fields)


@dataclass(frozen=True, slots=True)
class ConnectionQuery:
    """What a connection shows: a window of rows, in an order that replaces their own."""

    rows: QuerySet[Any]
    order: Ordering
    window: ConnectionWindow

    @property
    def structure(self) -> Hashable:
        """Return what decides the structure of a statement, beside the rows and the selection."""
        return self.order, self.window.backwards, self.window.after is None, self.window.before is None


@dataclass(frozen=True, slots=True)
class ConnectionArguments:
    """What is asked of a connection among the fields of rows, of which each has its own.

    `parent` is the row whose connection the cursors are of; None where there are none. What has another row's cursors
    cannot be answered, which PostgreSQL says by putting `refusal` in its place.
    """

    selected: SelectedField
    order: Ordering
    window: ConnectionWindow
    parent: int | None
    refusal: str


class Connection(ProjectedField):
    """A to-many relation as a connection. The default of its order is the SDL's."""

    def __init__(self, relation: str) -> None:
        self.relation = relation

    def bind(self, model: type[Model], sdl: SdlField) -> None:
        self.related = build_related_rows(model, self.relation)
        self.key = get_model_field(model, self.relation).field
        if not isinstance(sdl.projection, ConnectionType) or sdl.projection.node.model is not self.related.model:
            raise ProjectionError(
                f"the SDL has {sdl.type_name}, which is no connection of {self.related.model.__name__}"
            )
        if set(sdl.arguments) != ARGUMENTS:
            raise ProjectionError(
                f"the SDL's arguments are {join_names(sdl.arguments)}; a connection's {join_names(ARGUMENTS)}"
            )
        self.kind = sdl.projection
        self.default_order = sdl.arguments["order_by"]
        if not isinstance(self.default_order, Ordering):
            raise ProjectionError("orderBy needs a default in the SDL, and its enum needs orders for its values")
        self.name = f"{model._meta.label}.{self.relation}"

    def expression(self, selected: SelectedField, compilation: Compilation) -> Combinable:
        asked, read = compilation.arguments_of(selected, partial(self.understood, selected))
        making = ConnectionCompiler(
            ConnectionQuery(self.related, asked.order, asked.window),
            self.kind,
            compilation,
            lambda inputs: read(inputs).window,
            parent=F(self.key.target_field.name),
            parent_of_row=F(self.key.attname),
        )
        made = making.connection(selected.selection)
        if asked.parent is None:
            return made
        is_own = Q(**{self.key.target_field.name: Parameter(lambda inputs: read(inputs).parent)})
        refusal = Func(Parameter(lambda inputs: read(inputs).refusal), template="to_json(%(expressions)s::text)")
        return Case(When(is_own, then=made), default=refusal, output_field=JSONField())

    def understood(self, selected: SelectedField, given: Arguments) -> ConnectionArguments:
        order = given.get("order_by") or self.default_order
        cursors = {name: given.get(name) for name in ("first", "after", "last", "before")}
        try:
            window = parse_connection_args(self.name, {"orderBy": order.terms()}, **cursors)
            parents = {place.parent for place in (window.after, window.before) if place is not None}
            if len(parents) > 1:
                raise cursor_error("before")
        except Malformed as trouble:
            raise SelectedFieldError(selected, trouble) from None
        return ConnectionArguments(selected, order, window, next(iter(parents), None), secrets.token_hex(16))


def can_belong_to_other_parent(understood: Sequence[Any]) -> bool:
    """Say whether a cursor is given that is of a row's own connection: of whose, only an answer tells."""
    return any(isinstance(asked, ConnectionArguments) and asked.parent is not None for asked in understood)


def require_own_cursors(understood: Sequence[Any], texts: Sequence[bytes]) -> None:
    """Raise `FieldFailed` where an answer holds a connection that was given another row's cursors."""
    for asked in understood:
        if isinstance(asked, ConnectionArguments) and asked.parent is not None:
            refusal = asked.refusal.encode()
            if any(refusal in text for text in texts):
                raise SelectedFieldError(asked.selected, cursor_error("after" if asked.window.after else "before"))


class ConnectionCompiler:
    """The making of one connection: of the rows, and of the window as it is in all requests that share the statement.

    `parent` is what the rows belong to, seen from around the connection, and `parent_of_row` the same seen from a row.
    """

    def __init__(
        self,
        connected: ConnectionQuery,
        kind: ConnectionType,
        compilation: Compilation,
        window: Callable[[ExecutionInputs], Any],
        *,
        parent: Combinable | None = None,
        parent_of_row: Combinable | None = None,
    ) -> None:
        self.rows, self.order, self.window = connected.rows, connected.order, connected.window
        self.kind = kind
        self.compilation = compilation
        self.read = window
        self.parent = parent or RawExpression("NULL")
        self.parent_of_row = parent_of_row or RawExpression("NULL")
        self.edges: list[JsonRow] = []
        self.needs_ends = self.peeks = False

    def connection(self, selection: Sequence[SelectedField]) -> JsonRow:
        members = [(selected.key, self.member(selected)) for selected in selection]
        tables: list[Any] = [self.page()] if self.edges or self.needs_ends or self.peeks else []
        if any(selected.name == "totalCount" for selected in selection):
            tables.append(CountTable(self.rows.order_by().values("pk")))
        return JsonRow(members, tables)

    def member(self, selected: SelectedField) -> Combinable:
        match selected.name:
            case "edges":
                self.edges.append(JsonRow([(each.key, self.of_edge(each)) for each in selected.selection]))
                return RawExpression(f'page."e{len(self.edges) - 1}"')
            case "pageInfo":
                return JsonRow([(each.key, self.of_page(each)) for each in selected.selection])
            case "totalCount":
                return RawExpression("total.n")
        return TextLiteral(self.kind.name)

    def of_edge(self, selected: SelectedField) -> Combinable:
        match selected.name:
            case "cursor":
                return self.cursor(F(self.order.column), F("pk"), self.parent_of_row)
            case "node":
                return JsonRow(self.kind.node.expressions(selected.selection, self.compilation))
        return TextLiteral(self.kind.edge.name)

    def of_page(self, selected: SelectedField) -> Combinable:
        match selected.name:
            case "hasNextPage":
                return self.has_more(backwards=False)
            case "hasPreviousPage":
                return self.has_more(backwards=True)
            case "startCursor":
                return self.cursor(*self.end("start"), self.parent)
            case "endCursor":
                return self.cursor(*self.end("end"), self.parent)
        return TextLiteral(PAGE_INFO.name)

    def has_more(self, *, backwards: bool) -> Combinable:
        """Return whether rows stand after the page: before it, where `backwards`.

        In the direction that the page is read in, one row more tells. Besides, and in the other direction alone, there
        are those at the cursor that the window ends by.
        """
        bound = "after" if backwards else "before"
        more = Q()
        if backwards is self.window.backwards:
            self.peeks = True
            more = Q(RawExpression("page.more", BooleanField()))
        if getattr(self.window, bound) is not None:
            at_bound = self.order.beyond(*self.place(bound), backwards=backwards, inclusive=True)
            more |= Q(HasRow(self.rows.filter(at_bound).order_by(*self.order.terms(backwards=backwards))))
        return ExpressionWrapper(more, output_field=BooleanField()) if more else RawExpression("false")

    def cursor(self, value: Combinable, key: Combinable, parent: Combinable) -> Cursor:
        inner = Parameter(lambda inputs: self.read(inputs).signing_keys[0])
        outer = Parameter(lambda inputs: self.read(inputs).signing_keys[1])
        return Cursor(outer, inner, key, value, parent)

    def page(self) -> PageTable:
        rows, backwards = self.rows, self.window.backwards
        if self.window.after is not None:
            rows = rows.filter(self.order.beyond(*self.place("after")))
        if self.window.before is not None:
            rows = rows.filter(self.order.beyond(*self.place("before"), backwards=True))
        edges = {f"_e{place}": edge for place, edge in enumerate(self.edges)}
        return PageTable(
            rows.order_by(*self.order.terms(backwards=backwards)).values(
                **edges, _value=F(self.order.column), _id=F("pk")
            ),
            Parameter(lambda inputs: self.read(inputs).size),
            edges=len(edges),
            ends=self.needs_ends,
            peeks=self.peeks,
            reversed_to=("DESC" if self.order.descending else "ASC") if backwards else None,
        )

    def end(self, name: str) -> tuple[RawExpression, RawExpression]:
        """Return what the first or the last row of the page is ordered by: the column and the key."""
        self.needs_ends = True
        return RawExpression(f'page."{name}_value"'), RawExpression(f'page."{name}_id"')

    def place(self, name: str) -> tuple[Parameter, Parameter]:
        """Return the place that a cursor stands for: the column and the key."""
        return (
            Parameter(lambda inputs: getattr(self.read(inputs), name).value),
            Parameter(lambda inputs: getattr(self.read(inputs), name).id),
        )
