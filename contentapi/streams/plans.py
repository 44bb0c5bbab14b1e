"""What a stream sends, and how it is read: once for all streams with an equal plan.

Two plans with an equal `key` send the same bytes: the key has what is followed and selected, the format, and the rights
of the actor. Plans are read in threads, many at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from django.db import Error as DatabaseError
from django.db import InterfaceError
from django.db.models import QuerySet

from contentapi.conf import conf
from contentapi.core.errors import ResponseTooLarge, Unavailable
from contentapi.core.identity import Actor, Scope
from contentapi.events.feed import WINDOW, LogState, select_events
from contentapi.events.models import Event
from contentapi.events.subscriptions import LogSubscription
from contentapi.events.views import read_events
from contentapi.graphql.endpoint import build_result_response
from contentapi.graphql.execution.operations import Operation
from contentapi.graphql.subscriptions import Subscription
from contentapi.schema import EVENT_TYPES

if TYPE_CHECKING:
    from contentapi.projection import Rows
    from contentapi.streams.formats import EventStream

FIRST_ROWS = 8  # that are read at once; more if they are small
MOST_ROWS = 64
MOST_BYTES = 128 * 1024  # of several rows
MANY_BYTES = MOST_BYTES // 2  # after which fewer rows are read
COST_OF_READ = 2500  # objects that one statement may read


class Batch(msgspec.Struct):
    """What has happened between two positions: enough to tell which plans may have to read."""

    end: int
    types: set[str]
    public_types: set[str]
    objects: set[int]  # the subjects and their parents
    subjects: set[int]


class Chunk(NamedTuple):
    """The bytes of a value in a stream."""

    position: int
    content: bytes


class Excerpt(NamedTuple):
    """What was read: chunks up to the position `end`, and how many rows to read next."""

    chunks: list[Chunk]
    end: int
    rows: int = 1


class Plan(ABC):
    """What equal streams send."""

    operation: Operation | None = None  # of a subscription
    most_rows = 1  # that one statement reads

    def __init__(self, key: Hashable, actor: Actor, format_: EventStream) -> None:
        self.key = (key, type(format_), actor.user_id, actor.role, actor.scopes, actor.preview)
        self.actor = actor
        self.format = format_

    def renew_preview(self) -> None:
        """Let the texts of a preview be read again: they may have changed since the last read."""
        if self.actor.preview is not None:
            self.actor.preview.forget_texts()

    @abstractmethod
    def may_concern(self, batch: Batch) -> bool:
        """Return whether a batch may have something for these streams. It may return True too often."""

    @abstractmethod
    def read(self, log: LogState, after: int, end: int, rows: int) -> Excerpt:
        """Read what is new between two positions. Raises errors of the database and of documents."""


class LogPlan(Plan):
    """Events. The actor sees of them what the feed shows.

    `read_rows` returns the values of events with their positions, within a number of bytes.
    """

    def __init__(
        self,
        key: Hashable,
        actor: Actor,
        format_: EventStream,
        followed: LogSubscription,
        read_rows: Callable[[Rows[Event], int], list[tuple[bytes, int]]],
        cost: int = 1,
    ) -> None:
        super().__init__((key, followed.types, followed.subject), actor, format_)
        self.types, self.subject = followed.types, followed.subject
        self.read_rows = read_rows
        self.most_rows = max(1, min(MOST_ROWS, COST_OF_READ // max(cost, 1)))
        self.sees_others = actor.has(Scope.EVENTS_READ)

    def may_concern(self, batch: Batch) -> bool:
        if self.subject is not None and self.subject not in batch.subjects:
            return False
        types = batch.types if self.sees_others else batch.public_types
        return bool(types) if self.types is None else not types.isdisjoint(self.types)

    def read(self, log: LogState, after: int, end: int, rows: int) -> Excerpt:
        """Read the next events after a position, `rows` at most. The first of them may be large, all together may not.

        Executes one statement, or some more if rows turn out to be large. Raises `DocumentRejected`,
        `ResponseTooLarge`, and Django's database errors.
        """
        self.renew_preview()
        end = end if self.subject is not None else min(end, after + WINDOW)
        found, rows = self.read_fitting(self.select_rows(after, end), rows)
        chunks = [Chunk(at, self.format.frame(value, log.format_cursor(at))) for value, at in found]
        size = sum(len(chunk.content) for chunk in chunks)
        last = chunks[-1].position if len(chunks) == rows else end
        next_rows = rows // 2 if size > MANY_BYTES else 2 * rows
        return Excerpt(chunks, last, min(max(next_rows, 1), self.most_rows))

    def select_rows(self, after: int, end: int) -> Rows[Event]:
        types = None if self.types is None else sorted(self.types)
        return select_events(self.actor, after=after, end=end, types=types, subject=self.subject)

    def read_fitting(self, selected: Rows[Event], rows: int) -> tuple[list[tuple[bytes, int]], int]:
        """Return the first rows, as many as are small enough together, and their greatest number."""
        while rows > 1:
            try:
                return self.read_rows(selected[:rows], MOST_BYTES), rows
            except ResponseTooLarge:
                rows = max(1, rows // 8)
        return self.read_rows(selected[:1], conf.environment.contentapi_max_response), 1


def plan_feed(actor: Actor, format_: EventStream, followed: LogSubscription, prefix: str) -> LogPlan:
    """Return the plan of events as REST shows them. `prefix` is that of paths."""

    def read_rows(rows: Rows[Event], room: int) -> list[tuple[bytes, int]]:
        return read_events(rows, EVENT_TYPES, actor, prefix, room)

    return LogPlan(("feed", prefix), actor, format_, followed, read_rows)


def plan_events(
    subscription: Subscription, actor: Actor, format_: EventStream, followed: LogSubscription, cost: int
) -> LogPlan:
    """Return the plan of events as a subscription selects them."""
    name = msgspec.json.encode(subscription.root.key)

    def read_rows(rows: Rows[Event], room: int) -> list[tuple[bytes, int]]:
        found = subscription.read_rows(rows, "position", room)
        return [(b'{"data":{%s:%s}}' % (name, event), int(position)) for event, position in found]

    plan = LogPlan(build_subscription_key(subscription), actor, format_, followed, read_rows, cost)
    plan.operation = subscription.operation
    return plan


class ObjectPlan(Plan):
    """An object, as a subscription selects it."""

    def __init__(self, subscription: Subscription, actor: Actor, format_: EventStream, subject: int) -> None:
        super().__init__(build_subscription_key(subscription), actor, format_)
        self.subscription = subscription
        self.operation = subscription.operation
        self.subject = subject

    def may_concern(self, batch: Batch) -> bool:
        return self.subject in batch.objects

    def read(self, log: LogState, after: int, end: int, rows: int) -> Excerpt:  # noqa: ARG002
        """Return the result of the operation. Raises `LimitExceeded`, and errors of the database."""
        self.renew_preview()
        subscription = self.subscription
        result = subscription.operation.execute(
            subscription.given, subscription.context, hide_suggestions=subscription.is_hidden
        )
        for error in result.errors or ():
            if isinstance(error.original_error, (DatabaseError, InterfaceError, Unavailable)):
                raise error.original_error  # the group distinguishes an outage from a statement that takes too long
        return Excerpt([Chunk(end, self.format.frame(build_result_response(result, None).body))], end)


def build_subscription_key(subscription: Subscription) -> Hashable:
    variables = msgspec.json.encode(subscription.given, order="sorted")
    return subscription.operation.digest, blake2b(variables).digest()


def select_batch(after: int) -> QuerySet[Event, Any]:
    """Return the events after a position as rows for `build_batch`: position, type, subject, parent, is public."""
    columns = ("position", "type", "subject_id", "parent_id", "is_public")
    return Event.objects.filter(position__gt=after).order_by("position").values_list(*columns)


def build_batch(rows: Collection[tuple[int, str, int, int | None, bool]], end: int) -> Batch:
    subjects = {subject for _, _, subject, _, _ in rows}
    return Batch(
        end=end,
        types={name for _, name, _, _, _ in rows},
        public_types={name for _, name, _, _, is_public in rows if is_public},
        subjects=subjects,
        objects=subjects.union(parent for _, _, _, parent, _ in rows if parent is not None),
    )
