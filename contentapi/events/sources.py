"""What follows from the sources of events: the interface `Event` of the graph, and what the feed and webhooks show."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cache, partial
from typing import Any

import msgspec
from django.core.exceptions import EmptyResultSet
from django.db.models import Case, Expression, F, OuterRef, Q, Subquery, TextField, When
from django.db.models.sql.compiler import SQLCompiler
from graphql import VariableValues

from contentapi.core import policy
from contentapi.core.errors import Malformed
from contentapi.core.identity import Actor
from contentapi.db.expressions import Term
from contentapi.events.declarations import EventSource, Type, load_apps
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


COLUMNS = ("position", "type", "timestamp", "subject", "parent", "version", "was", "now", "changes", "actorId")
FIELDS: Mapping[str, ProjectedField | str] = {
    **{name: name for name in COLUMNS},
    "subject": "subject_id",
    "parent": "parent_id",
    "actorId": Computed(build_actor_id),
    # Of the graph alone: pages and streams of REST have cursors of their own
    "cursor": Computed(lambda _: EventCursor(Subquery(Log.objects.values("epoch")), F("position"))),
}


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

    def __init__(self, types: Iterable[Type]) -> None:
        self.kinds: dict[str, str] = {}  # of objects, by the types of their events: `post` by `PostEvent`
        self.sources: dict[str, EventSource] = {}  # by the kind
        self.meanings: dict[str, list[str]] = {}  # of what `parse` knows
        self.names: list[str] = []
        rows = {}
        for each in types:
            if each.node is None or each.events is None:
                continue
            name = f"{each.projection.name}Event"
            kind = self.kinds[name] = each.projection.name.lower()
            self.sources[kind] = each.events
            names = [f"{kind}.{action}" for action in each.events.actions]
            self.names += names
            self.meanings |= {f"{kind}.*": names, **{name: [name] for name in names}}
            projection = Projection(name, Event, {**FIELDS, kind: Subject(each.node)})
            rows[projection] = Q(type__startswith=f"{kind}.")
        self.interface = RowInterface("Event", Event, rows)
        self.connection = EventConnectionType(self.interface)

    @property
    def projections(self) -> list[Projection | RelayType]:
        return [self.interface, *self.interface.types, self.connection, self.connection.edge]

    def visible(self, actor: Actor) -> Q:
        visible = policy.build_visible_events(actor, {kind: each.visible for kind, each in self.sources.items()})
        for kind, source in self.sources.items():
            if source.limit is not None:
                visible &= ~Q(type__startswith=f"{kind}.") | source.limit(actor)
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
        columns = [SelectedField(name, name) for name in COLUMNS]
        found = []
        for name, kind in self.kinds.items():
            fields = selections.get(kind, self.sources[kind].data.selection)
            data = SelectedField("data", kind, selection=tuple(fields))
            found.append(SelectedField(name, name, selection=(*columns, data)))
        return tuple(found)

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
        if kind in as_selected or kind not in self.sources or bytes(members["data"]) == b"null":
            return event
        shown = add_version_prefix(self.sources[kind].data.show(bytes(members["data"])), prefix)
        return msgspec.json.encode({**members, "data": msgspec.Raw(shown)})


@cache
def get_event_types() -> EventTypes:
    """Return the types of events of all apps."""
    return EventTypes(each for app in load_apps() for each in app.types)
