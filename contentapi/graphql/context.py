"""The value of `info.context` in resolvers."""

from typing import TypedDict

from contentapi.core.identity import Actor


class RequestContext(TypedDict):
    """Built once for each request."""

    actor: Actor
