"""What the apps declare of events: the actions on their objects, and how an event shows its object.

    EventSource(("created", "updated", "deleted"), policy.AUTHOR_EVENTS, views.AUTHOR)

`EventTypes` makes of them the interface `Event` of the graph, with a type for each source, and the types of the feed.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import msgspec
from django.core.exceptions import EmptyResultSet
from django.db.models import Case, Expression, F, OuterRef, Q, Subquery, TextField, When
from django.db.models.sql.compiler import SQLCompiler
from graphql import VariableValues

from contentapi.core import policy
from contentapi.core.errors import Malformed
from contentapi.core.identity import Actor
from contentapi.db.literals import Term
from contentapi.events.models import Event, Log
from contentapi.http.negotiation import add_version_prefix
from contentapi.projection import (
    Computed,
    ConnectionType,
    FormattedFunc,
    Projection,
    ProjectionError,
    RelayType,
    RowInterface,
    Rows,
)
from contentapi.projection.expressions import JsonObject
from contentapi.projection.fields import CompilationContext, ProjectedField
from contentapi.projection.nodes import SelectById
from contentapi.projection.sdl import SdlField
from contentapi.projection.selections import SelectedField
from contentapi.projection.statements import SelectionRequest, read_json_and_column
from contentapi.rest.representations import Representation

MAX_TYPES = 50  # that a caller names
SIZE = 4096  # of the selection, for the cache of statements
MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def build_actor_id(actor: Actor) -> Expression:
    seen = policy.visible_event_actors(actor) & Q(pk__isnull=False)  # WHEN takes no empty condition
    return Case(When(seen, then="actor_id"))


class EventCursor(FormattedFunc):
    """The cursor of a position: `$1::text || '-' || "position"::text`; null without a position."""

    template = "({0}::text || '-' || ({1})::text)"
    output_field = TextField()


def build_cursor(_: Actor) -> Expression:
    return EventCursor(Subquery(Log.objects.values("epoch")), F("position"))


COLUMNS = ("position", "type", "timestamp", "subject", "parent", "version", "was", "now", "changes", "actorId")
FIELDS: Mapping[str, ProjectedField | str] = {
    **{name: name for name in COLUMNS},
    "subject": "subject_id",
    "parent": "parent_id",
    "actorId": Computed(build_actor_id),
    "cursor": Computed(build_cursor),  # of the graph alone: pages and streams of REST have cursors of their own
}


@dataclass(frozen=True)
class EventSource:
    """The actions on the objects of a type, the rule for seeing their events, and the representation in REST.

    `visible` is the condition on events that are not public, for actors with `events:read`; `limit` one on all events.
    """

    actions: Sequence[str]
    visible: policy.EventRule
    data: Representation
    limit: policy.EventRule | None = None


@dataclass(frozen=True)
class EventType:
    """The events of a type of objects.

    `select` is the selector of `node`: an event shows the object as the actor may see it now, or null.
    """

    projection: Projection
    select: SelectById
    source: EventSource

    @property
    def kind(self) -> str:
        return self.projection.name.lower()

    @property
    def condition(self) -> Q:
        return Q(type__startswith=f"{self.kind}.")

    def select_data(self, selection: Sequence[SelectedField] | None = None) -> tuple[SelectedField, ...]:
        """Return the fields of an event in REST. `selection` replaces the fields of the object."""
        fields = self.source.data.selection if selection is None else selection
        return *map(select_field, COLUMNS), SelectedField("data", self.kind, selection=tuple(fields))


def select_field(name: str) -> SelectedField:
    return SelectedField(name, name)


class ObjectOrNull(JsonObject):
    """The row of a query as a JSON object: null also if the actor may see no row of its type."""

    def as_sql(self, compiler: SQLCompiler, connection: Any, *others: Any, **options: Any) -> tuple[str, Any]:
        try:
            return super().as_sql(compiler, connection, *others, **options)
        except EmptyResultSet:
            return "NULL::json", ()


class Subject(ProjectedField):
    """The object of an event."""

    def __init__(self, select: SelectById) -> None:
        self.select = select

    def bind(self, model: Any, sdl: SdlField) -> None:  # noqa: ARG002
        if not isinstance(sdl.projection, Projection) or not sdl.is_nullable or sdl.is_list:
            raise ProjectionError(f"the SDL has {sdl.written}, which is no object that can be null")
        self.target = sdl.projection

    def build_expression(self, selected: SelectedField, compilation: CompilationContext) -> Term:
        """Return the object. A preview of a post changes no feed."""
        shown = copy(compilation)
        if shown.actor.preview is not None and not shown.actor.preview.is_site:
            shown.actor = replace(shown.actor, preview=None)
        rows = self.select(shown.actor, "0").with_parameters(pk=OuterRef("subject_id"))
        return ObjectOrNull(*self.target.select(rows, selected.selection, shown))


class EventConnectionType(ConnectionType):
    """Pages of events, which are read forward only and not counted."""

    def __init__(self, node: Projection) -> None:
        super().__init__(node)
        self.fields = {"edges": f"[{self.edge.name}!]!", "pageInfo": "PageInfo!", "nextCursor": "String!"}


class EventTypes:
    """The sources of all apps, and the types of the graph that are made of them."""

    def __init__(self, types: Iterable[EventType]) -> None:
        declared = [*types]
        self.sources = {f"{each.projection.name}Event": each for each in declared}
        rows = {
            Projection(name, Event, {**FIELDS, each.kind: Subject(each.select)}): each.condition
            for name, each in self.sources.items()
        }
        self.interface = RowInterface("Event", Event, rows)
        self.connection = EventConnectionType(self.interface)
        self.data = {each.kind: each.source.data for each in declared}
        self.rules = {each.kind: each.source.visible for each in declared}
        self.limits = {each.kind: each.source.limit for each in declared if each.source.limit}
        self.names: list[str] = []
        self.meanings: dict[str, list[str]] = {}  # of what `parse` knows
        for each in declared:
            names = [f"{each.kind}.{action}" for action in each.source.actions]
            self.names += names
            self.meanings[f"{each.kind}.*"] = names
            self.meanings |= {name: [name] for name in names}

    @property
    def projections(self) -> list[Projection | RelayType]:
        return [self.interface, *self.interface.types, self.connection, self.connection.edge]

    def visible(self, actor: Actor) -> Q:
        visible = policy.build_visible_events(actor, self.rules)
        for kind, limit in self.limits.items():
            visible &= ~Q(type__startswith=f"{kind}.") | limit(actor)
        return visible

    def parse(self, types: Collection[str]) -> list[str]:
        """Return the names of some types: `post.*` means those of all actions on posts. Raises `Malformed`."""
        if len(types) > MAX_TYPES:
            raise Malformed(f"At most {MAX_TYPES} types are allowed (got {len(types)}).")
        names: set[str] = set()
        for text in types:
            if text not in self.meanings:
                raise Malformed(f'There are no events of the type "{text[:50]}".')
            names.update(self.meanings[text])
        return sorted(names)

    def select_data(self, selections: Mapping[str, Sequence[SelectedField]] = {}) -> tuple[SelectedField, ...]:
        """Return the selection of an event in REST: an entry for each type. `selections` replaces those of kinds."""
        return tuple(
            SelectedField(name, name, selection=each.select_data(selections.get(each.kind)))
            for name, each in self.sources.items()
        )

    def read(
        self,
        rows: Rows[Event],
        actor: Actor,
        prefix: str = "",
        room: int | None = None,
        *,
        text: str = "",
        selections: Mapping[str, Sequence[SelectedField]] = {},
    ) -> list[tuple[bytes, int]]:
        """Return the JSON of events as REST shows them, with their positions, by one statement.

        `prefix` is that of paths, `room` the maximum size of all of them in bytes. `selections`, of which `text` is the
        source, replaces the fields of the objects of some kinds. Raises `ResponseTooLarge`.
        """
        request = SelectionRequest(
            self.interface,
            key=("events", text),
            size=SIZE + len(text),
            select=partial(self.select_data, selections),
            actor=actor,
            variables=VariableValues({}, {}),
            room=room,
            column=F("position"),
        )
        found = read_json_and_column(rows, request)
        return [(self.represent(event, prefix, as_selected=selections), int(position)) for event, position in found]

    def represent(self, event: bytes, prefix: str, *, as_selected: Container[str] = ()) -> bytes:
        """Return the JSON of an event in REST; `prefix` is that of paths. Kinds in `as_selected` stay as they are."""
        members = MEMBERS.decode(event)
        kind = msgspec.json.decode(members["type"], type=str).partition(".")[0]
        if kind in as_selected or kind not in self.data or bytes(members["data"]) == b"null":
            return event
        shown = add_version_prefix(self.data[kind].show(bytes(members["data"])), prefix)
        return msgspec.json.encode({**members, "data": msgspec.Raw(shown)})
