"""What a resolver learns of its request, as `info.context`."""

from typing import NotRequired, TypedDict

from contentapi.core.identity import Actor
from contentapi.projection import ReturningSelection


class RequestContext(TypedDict):
    """Built fresh for each request, and for each field of a mutation.

    `returning` is what the client wants of the row that a field writes: a service that takes it up spares reading back.
    """

    actor: Actor
    returning: NotRequired[ReturningSelection | None]
