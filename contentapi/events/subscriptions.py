"""What the root fields of `Subscription` follow. `contentapi.streams` sends it.

A field has two functions. Its source returns one of these objects; the resolver of a field with an object reads the
object each time. The events of `LogSubscription` are read by the streams, many by one statement.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class LogSubscription:
    """The events of some types, or of one object, after a cursor. None: all of them; those after the present."""

    after: str | None
    types: frozenset[str] | None
    subject: int | None


@dataclass(frozen=True)
class ObjectSubscription:
    """An object, read again after each of its events and of those whose parent it is."""

    subject: int
