"""The value of `info.context` in resolvers."""

from typing import NotRequired, TypedDict

from contentapi.core.identity import Actor
from contentapi.projection import ReturningSelection


class RequestContext(TypedDict):
    """Created for each request, and for each field of a mutation.

    `returning` is the client's selection of the row that a mutation writes. A service that uses it saves a statement.
    """

    actor: Actor
    returning: NotRequired[ReturningSelection | None]
