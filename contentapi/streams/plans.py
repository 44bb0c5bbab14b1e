"""What a stream sends, and how it is read: once for all streams with an equal plan.

Two plans with an equal `key` send the same bytes: the key has what is followed and selected, the format, and the rights
of the actor. Plans are read in threads, many at once.
"""

from collections.abc import Callable, Hashable
from typing import NamedTuple

from contentapi.conf import conf
from contentapi.core.identity import Actor, Scope
from contentapi.events.feed import LogState, LogSubscription
from contentapi.graphql.endpoint import build_result_response
from contentapi.graphql.execution.operations import Operation
from contentapi.graphql.subscriptions import Subscription
from contentapi.streams.follower import OUTAGES, Batch
from contentapi.streams.formats import EventStream

FIRST_ROWS, MOST_ROWS = 8, 64  # that are read at once
MOST_BYTES = 128 * 1024  # of several rows
COST_OF_READ = 2500  # objects that one statement may read


class Excerpt(NamedTuple):
    """What was read up to the position `end`: bytes for the client, each with its position."""

    chunks: list[tuple[bytes, int]]
    end: int

    def join_after(self, position: int) -> tuple[bytes, int]:
        """Return what follows a position, and the number of events in it."""
        rest = [content for content, at in self.chunks if at > position]
        return b"".join(rest), len(rest)


class AnyPlan:
    """What equal streams send. `operation` is that of a subscription."""

    rows = most_rows = 1  # events that one statement reads, and reads at most: more if they are small

    def __init__(self, key: Hashable, actor: Actor, format_: EventStream, operation: Operation | None) -> None:
        self.key = (key, type(format_), actor.user_id, actor.role, actor.scopes, actor.preview)
        self.actor = actor
        self.format = format_
        self.operation = operation


class LogPlan(AnyPlan):
    """Events. The actor sees of them what the feed shows."""

    def __init__(
        self,
        key: Hashable,
        actor: Actor,
        format_: EventStream,
        followed: LogSubscription,
        read_rows: Callable[..., list[tuple[bytes, int]]],
        operation: Operation | None = None,
        cost: int = 1,
    ) -> None:
        super().__init__((key, followed.types, followed.subject), actor, format_, operation)
        self.followed = followed
        self.read_rows = read_rows  # returns the values of events with their positions, within a number of bytes
        self.most_rows = max(1, min(MOST_ROWS, COST_OF_READ // max(cost, 1)))
        self.rows = min(FIRST_ROWS, self.most_rows)

    def may_concern(self, batch: Batch) -> bool:
        """Return whether a batch may have something for these streams. It may return True too often."""
        if self.followed.subject is not None and self.followed.subject not in batch.subjects:
            return False
        types = batch.types if self.actor.has(Scope.EVENTS_READ) else batch.public_types
        return bool(types) if self.followed.types is None else not types.isdisjoint(self.followed.types)

    def read(self, log: LogState, after: int, end: int) -> Excerpt:
        """Read the next events by one statement. One of them may be large, several together may not.

        Raises `DocumentRejected`, `ResponseTooLarge`, and Django's database errors.
        """
        selected, end = self.followed.select(self.actor, after, end)
        rows = self.rows
        room = MOST_BYTES if rows > 1 else conf.environment.contentapi_max_response
        found = self.read_rows(selected[:rows], room=room)
        chunks = [(self.format.frame(value, log.format_cursor(at)), at) for value, at in found]
        return Excerpt(chunks, found[-1][1] if len(found) == rows else end)


class ObjectPlan(AnyPlan):
    """An object, as a subscription selects it."""

    def __init__(self, subscription: Subscription, actor: Actor, format_: EventStream, subject: int) -> None:
        super().__init__(subscription.key, actor, format_, subscription.operation)
        self.subscription = subscription
        self.subject = subject

    def may_concern(self, batch: Batch) -> bool:
        return self.subject in batch.objects

    def read(self, log: LogState, after: int, end: int) -> Excerpt:  # noqa: ARG002
        """Return the result of the operation. Raises `LimitExceeded`, and errors of the database."""
        result = self.subscription.operation.execute(self.subscription.given, self.subscription.context)
        for error in result.errors or ():
            if isinstance(error.original_error, OUTAGES):
                raise error.original_error  # the group distinguishes an outage from a statement that takes too long
        return Excerpt([(self.format.frame(build_result_response(result, None).body), end)], end)


Plan = LogPlan | ObjectPlan
