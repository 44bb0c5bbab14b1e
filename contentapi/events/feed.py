"""The feed: pages of the log that an actor may see, by the cursor `<epoch>-<position>`.

A page looks at `WINDOW` positions at most, so that it is fast however few events of the log it shows. Its next cursor
is therefore not that of its last event, and an empty page has one too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import msgspec
from django.db.models import BooleanField, Case, ExpressionWrapper, F, Q, QuerySet, TextField, When
from django.db.models.functions import Cast

from contentapi.core.errors import EventsExpired, Malformed, Unavailable
from contentapi.core.identity import Actor
from contentapi.core.pagination import DEFAULT_PAGE, ConnectionWindow, parse_id, require_page_size
from contentapi.core.replicas import set_route
from contentapi.db.expressions import IsInArray, Term
from contentapi.events.models import Event, Log
from contentapi.events.sources import EventCursor, get_event_types
from contentapi.projection import ConnectionQuery, Ordering, PreparedQuery, RawExpression, Rows, parametrised
from contentapi.projection.connection_compiler import ConnectionCompiler
from contentapi.projection.selections import Parameter, SelectedField

WINDOW = 10_000
BY_POSITION = Ordering("position")
CURSOR = re.compile(r"([0-9a-z]{1,32})-(0|[1-9][0-9]{0,17})", re.ASCII)
PRESENT = "now"
EXPIRED = "The events after this cursor are not kept any more. Read everything again, after the cursor of after=now."


class LogState(msgspec.Struct):
    """How far the log is: the last position, and the last one that is not kept any more."""

    epoch: str
    position: int
    expired: int

    def format_cursor(self, position: int) -> str:
        return f"{self.epoch}-{position}"

    def parse_cursor(self, cursor: str | None) -> int:
        """Return the position of a cursor. Raises `Malformed` and `EventsExpired`."""
        if cursor is None:
            return self.expired
        if cursor == PRESENT:
            return self.position
        found = CURSOR.fullmatch(cursor)
        if found is None:
            raise Malformed("after must be the cursor of an event, or now.")
        position = int(found[2])
        if found[1] != self.epoch or not self.expired <= position <= self.position:
            raise EventsExpired(EXPIRED)
        return position


LOG = PreparedQuery(LogState, lambda _: Log.objects.all())


def read_log() -> LogState:
    """Return the state of the log. Raises `Unavailable` if there is no log yet: the worker makes it.

    It and all that follows is read from the primary: a replica may lack positions that the caller has seen.
    """
    set_route(None)
    state = LOG.first()
    if state is None:
        raise Unavailable
    return state


@dataclass(frozen=True)
class LogSubscription:
    """The events of some types, or of one object, after a cursor. None: all of them; those after the present."""

    after: str | None = None
    types: frozenset[str] | None = None
    subject: int | None = None

    @classmethod
    def parse(cls, after: str | None, types: Collection[str] | None, subject: str | None) -> Self:
        """Return what a client asks for. Raises `Malformed`."""
        names = None if types is None else frozenset(get_event_types().parse(types))
        return cls(after, names, None if subject is None else parse_id(subject))

    def select(self, actor: Actor, after: int, last: int) -> tuple[Rows[Event], int]:
        """Return those after a position that the actor may see, and the end of their window, at most `last`."""
        end = last if self.subject is not None else min(after + WINDOW, last)  # an index has those of one object
        types = None if self.types is None else sorted(self.types)
        return select_events(actor, after=after, end=end, types=types, subject=self.subject), end


@dataclass(frozen=True)
class ObjectSubscription:
    """An object, read again after each of its events and of those whose parent it is."""

    subject: int


class Feed:
    """The events after a position that an actor may see, up to the end of the window."""

    def __init__(self, actor: Actor, wanted: LogSubscription) -> None:
        """Raises `Malformed` and `EventsExpired`."""
        self.log = read_log()
        self.after = self.log.parse_cursor(wanted.after)
        self.rows, self.end = wanted.select(actor, self.after, self.log.position)


@parametrised(Event)
def select_events(actor: Actor, *, after: int, end: int, types: Any, subject: int | None) -> QuerySet[Event]:
    events = Event.objects.filter(get_event_types().visible(actor), position__gt=after, position__lte=end)
    if types is not None:
        events = events.filter(IsInArray(F("type"), types))
    if subject is not None:
        events = events.filter(subject_id=subject)
    return events.order_by("position")


def list_last_events(actor: Actor, subject_id: int, *, before: int | None = None, limit: int) -> list[Event]:
    """Return the last events of an object that the actor may see, before a position, the last first."""
    end = 2**63 - 1 if before is None else before - 1  # no row has a higher position
    events = select_events(actor, after=0, end=end, types=None, subject=subject_id).queryset()
    return list(events.order_by("-position")[:limit])


@dataclass(frozen=True)
class FeedWindow(ConnectionWindow):
    """A page of the feed. Its rows have their bounds already."""

    feed: Feed


class FeedCompiler(ConnectionCompiler):
    """Compiles a page of the feed, a connection with cursors of its own, and with the one after which to go on."""

    def build_connection_field(self, selected: SelectedField) -> Term:
        return self.build_next_cursor() if selected.name == "nextCursor" else super().build_connection_field(selected)

    def build_page_info_field(self, selected: SelectedField) -> Term:
        """Clients go on with `endCursor`, also after an empty page: it is the next cursor."""
        return self.build_next_cursor() if selected.name == "endCursor" else super().build_page_info_field(selected)

    def build_next_cursor(self) -> Term:
        self.needs_more = True
        last = self.build_cursor(*self.build_page_end("end"), self.parent)
        has_more = Q(RawExpression("page.more", BooleanField()))
        return Case(
            When(has_more, then=last), default=self.read(lambda feed: feed.log.format_cursor(feed.end), TextField())
        )

    def build_cursor(self, value: Term, key: Term, parent: Term) -> Term:  # noqa: ARG002
        return EventCursor(self.read(lambda feed: feed.log.epoch, TextField()), value)

    def has_more(self, *, backwards: bool) -> Term:
        if backwards:
            return self.read(lambda feed: feed.after > feed.log.expired, BooleanField())
        self.needs_more = True
        is_later = self.read(lambda feed: feed.end < feed.log.position, BooleanField())
        more = Q(RawExpression("page.more", BooleanField())) | Q(is_later)
        return ExpressionWrapper(more, output_field=BooleanField())

    def read(self, get: Callable[[Feed], Any], kind: Any) -> Term:
        return Cast(Parameter(lambda inputs: get(self.read_window(inputs).feed)), kind)


class FeedQuery(ConnectionQuery):
    """A page of the feed as a connection."""

    __slots__ = ()
    compiler: ClassVar[type[ConnectionCompiler]] = FeedCompiler


def build_events_connection(
    actor: Actor,
    *,
    first: int | None = None,
    after: str | None = None,
    types: Sequence[str] | None = None,
    subject: str | None = None,
) -> FeedQuery:
    """Return a page of the feed. Raises `Malformed` and `EventsExpired`."""
    size = require_page_size(first, default=DEFAULT_PAGE, name="first")
    feed = Feed(actor, LogSubscription.parse(after, types, subject))
    window = FeedWindow("events", {}, size, backwards=False, after=None, before=None, feed=feed)
    return FeedQuery(feed.rows, BY_POSITION, window)
