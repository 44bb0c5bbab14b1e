"""Reads of the rows of own types: which ones an actor may see."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from django.db.models import Q, QuerySet

from contentapi.core.errors import Malformed
from contentapi.core.identity import Actor
from contentapi.core.pagination import Position, parse_connection_args, parse_id
from contentapi.core.policy import require_permission
from contentapi.projection import NEWEST_FIRST, ConnectionQuery, Ordering, Rows, parametrised
from contentapi.types import policy
from contentapi.types.bodies import parse_text
from contentapi.types.fields import TAG, Kind, OwnField, convert_to_snake
from contentapi.types.models import OwnModel
from contentapi.types.values import find_problem


@cache
def build_node_selector(own: OwnModel) -> Callable[[Actor, str], Rows[Any]]:
    """Return the selector of the row with an id, or of no row. `node` gets the ids of all types: no error is raised."""

    def select_row(actor: Actor, *, pk: int) -> QuerySet[Any]:
        return own.model._default_manager.filter(policy.visible_rows(own, actor), pk=pk)

    return parametrised(own.model, pk=parse_id)(select_row)


@cache
def build_list_selector(own: OwnModel) -> Callable[..., Rows[Any]]:
    """Return the selector of the rows that meet some criteria, newest first, from after a position."""

    def select_rows(
        actor: Actor, *, after: str | None = None, after_pk: int | None = None, **criteria: Any
    ) -> QuerySet[Any]:
        conditions = [
            Q(tags__contains=[value]) if name == TAG else Q(**{own.sdl.filters[name].column: value})
            for name, value in criteria.items()
        ]
        if after is not None:
            conditions.append(NEWEST_FIRST.beyond(after, after_pk))
        rows = own.model._default_manager.filter(policy.visible_rows(own, actor), *conditions)
        return rows.order_by(*NEWEST_FIRST.terms())

    return parametrised(own.model)(select_rows)


def require_reader(own: OwnModel, actor: Actor) -> None:
    """Raise `Unauthenticated` or `Forbidden` unless the actor may read rows of the type."""
    require_permission(actor, policy.may_read(own, actor), f"read {own.sdl.nouns}")


def select_row_by_id(own: OwnModel, actor: Actor, row_id: str) -> Rows[Any]:
    """Return the row with this id, or no row. Raises `Unauthenticated` and `Forbidden`, whatever the id."""
    require_reader(own, actor)
    return build_node_selector(own)(actor, row_id)


def select_rows(
    own: OwnModel, actor: Actor, criteria: Mapping[str, Any] | None = None, after: Position | None = None
) -> Rows[Any]:
    """Return the rows that meet the criteria, newest first, from after a position. `criteria` are a client's values.

    Raises `Unauthenticated`, `Forbidden` and `Malformed`.
    """
    require_reader(own, actor)
    names = {convert_to_snake(name): name for name in own.sdl.filters}
    given = {names.get(name, name): value for name, value in sorted((criteria or {}).items()) if value is not None}
    parsed = {name: parse_criterion(own.sdl.filters[name], value) for name, value in given.items()}
    return build_list_selector(own)(actor, after=after, **parsed)


def parse_criterion(field: OwnField, value: Any) -> Any:
    """Return a value as the column has it: of the graph, or of a query parameter. Raises `Malformed`."""
    if field.kind == Kind.RELATION:
        return parse_id(value)
    parsed = parse_text(field, value) if isinstance(value, str) else value
    if problem := find_problem(replace(field, is_list=False), parsed):
        raise Malformed(f"{field.name}: {problem}")
    return parsed


def build_connection(
    own: OwnModel,
    actor: Actor,
    *,
    filter: Mapping[str, Any] | None = None,  # noqa: A002 - the name in the SDL
    order_by: Ordering | None = None,
    **window: Any,
) -> ConnectionQuery:
    """Return a page of the rows that meet the filter: by `first` and `after`, or by `last` and `before`.

    Cursors are valid for the same filter and order only. Raises `Unauthenticated`, `Forbidden` and `Malformed`.
    """
    order, rows = order_by or NEWEST_FIRST, select_rows(own, actor, filter)
    given = {name: str(value) for name, value in sorted((filter or {}).items()) if value is not None}
    return ConnectionQuery(
        rows, order, parse_connection_args(own.sdl.plural, {**given, "orderBy": order.terms()}, **window)
    )
