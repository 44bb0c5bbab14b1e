"""Relay connections in SQL: pages of rows in both directions, page information and the total count.

    POST_CONNECTION = ConnectionType(POST)              # the SDL type PostConnection, with edges of type PostEdge
    "commentsConnection": Connection("comments", rows)  # a field of a projection: the pages of a to-many relation
    ConnectionQuery(rows, order, window)                # what a resolver returns for a root field

A connection is one JSON object, selected from at most two derived tables: `page`, a row with the arrays and the two
ends of the page, and `total`, a row with the count. Each is in the statement only if the selection needs it. PostgreSQL
writes and signs the cursors. `connection_compiler` shows a statement.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from django.db.models import Case, F, Func, JSONField, Model, OuterRef, Q, When

from contentapi.core.errors import ApiError
from contentapi.core.identity import Actor
from contentapi.core.pagination import ConnectionWindow, build_cursor_error, parse_connection_args
from contentapi.db.expressions import Term
from contentapi.projection.connection_compiler import ConnectionCompiler
from contentapi.projection.connection_types import ConnectionType
from contentapi.projection.fields import CompilationContext, ProjectedField
from contentapi.projection.ordering import Ordering
from contentapi.projection.querysets import Rows
from contentapi.projection.related_rows import (
    SelectRelated,
    build_related_rows,
    list_arguments,
    parametrise_arguments,
    select_every_row,
)
from contentapi.projection.sdl import ProjectionError, SdlField, get_model_field
from contentapi.projection.selections import Arguments, Parameter, SelectedField, SelectedFieldError

ARGUMENTS = {"first", "after", "last", "before", "order_by"}


@dataclass(frozen=True, slots=True)
class ConnectionQuery:
    """A window of rows, in an order that replaces their own. A subclass can have a compiler of its own."""

    compiler: ClassVar[type[ConnectionCompiler]] = ConnectionCompiler

    rows: Rows[Any]
    order: Ordering
    window: ConnectionWindow

    @property
    def model(self) -> type[Model]:
        return self.rows.model

    @property
    def cache_key(self) -> Hashable:
        key, window = self.rows.cache_key, self.window
        return key and (key, self.order, window.backwards, window.after is None, window.before is None)


def paginate(field: str, select: Callable[[Actor], Rows[Any]], default: Ordering) -> Callable[..., ConnectionQuery]:
    """Return a function for a root field that has no arguments besides `orderBy` and those of the page.

    The function returns a page of the selected rows. It raises `Malformed`, and what `select` raises.
    """

    def select_page(actor: Actor, *, order_by: Ordering | None = None, **window: Any) -> ConnectionQuery:
        rows, order = select(actor), order_by or default
        return ConnectionQuery(rows, order, parse_connection_args(field, {"orderBy": order.terms()}, **window))

    return select_page


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

    def build_cursor_error(self) -> SelectedFieldError:
        return SelectedFieldError(self.selected, build_cursor_error("after" if self.window.after else "before"))


class Connection(ProjectedField):
    """A to-many relation as a connection, or rows of a model to which `rows` alone relates this row.

    `rows(queryset, actor, **arguments)` filters the related rows, as that of `ToMany` does. Its arguments are those of
    the SDL that not all connections have; cursors are valid for the same arguments only. The SDL has the default order.
    `key` is the key of the parent as an expression over the related rows; by default the foreign key. `require(actor)`
    raises an `ApiError` if the actor may not list the rows. It is called when a statement is compiled, so it may depend
    on the actor's role, scopes and kind of credential only.
    """

    def __init__(
        self,
        relation: str | type[Model],
        rows: SelectRelated = select_every_row,
        *,
        key: Term | None = None,
        require: Callable[[Actor], None] = lambda _: None,
    ) -> None:
        self.relation = relation
        self.rows = rows
        self.key = key
        self.require = require
        self.names = list_arguments(rows)
        self.arguments = ARGUMENTS.union(self.names)

    def bind(self, model: type[Model], sdl: SdlField) -> None:
        if isinstance(self.relation, str):
            self.related = build_related_rows(model, self.relation)
            self.parent_of_row = self.key or F(get_model_field(model, self.relation).field.attname)
        else:
            self.related = self.relation._base_manager.all()
            self.parent_of_row = self.key or OuterRef("pk")
        if not isinstance(sdl.projection, ConnectionType) or sdl.projection.model is not self.related.model:
            raise ProjectionError(
                f"the SDL has {sdl.type_name}, which is not a connection of {self.related.model.__name__}"
            )
        self.connection_type = sdl.projection
        self.default_order: Any = sdl.arguments.get("order_by")
        if not isinstance(self.default_order, Ordering):
            raise ProjectionError("orderBy needs a default in the SDL, and its values must be orders")
        self.name = f"{model._meta.label}.{self.relation if isinstance(self.relation, str) else sdl.type_name}"

    def build_expression(self, selected: SelectedField, compilation: CompilationContext) -> Term:
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
            parent=F("pk"),
            parent_of_row=self.parent_of_row,
        )
        connection = compiler.compile(selected.selection)
        if arguments.parent is None or self.is_deferred:
            return connection
        # Whether the cursor is of this row is known only when the statement runs: the parent's id is a column.
        is_own = Q(pk=Parameter(lambda inputs: read(inputs).parent))
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


def list_cursors(arguments: Sequence[Any]) -> list[ConnectionArguments]:
    """Return the arguments of nested connections with a cursor. Only the result shows whether it has the right row."""
    return [each for each in arguments if isinstance(each, ConnectionArguments) and each.parent is not None]


def reject_foreign_cursors(arguments: Sequence[Any], texts: Sequence[bytes]) -> None:
    """Raise `SelectedFieldError` if a result contains the marker of a connection with another row's cursor."""
    for each in arguments:  # not by `list_cursors`: most requests have some arguments and no cursor
        if isinstance(each, ConnectionArguments) and each.parent is not None:
            refusal = each.refusal.encode()
            if any(refusal in text for text in texts):
                raise each.build_cursor_error()


def require_cursors_of(arguments: Sequence[Any], parent: int) -> None:
    """Raise `SelectedFieldError` if a deferred connection has the cursor of another row than its parent."""
    for each in list_cursors(arguments):
        if each.parent != parent:
            raise each.build_cursor_error()
