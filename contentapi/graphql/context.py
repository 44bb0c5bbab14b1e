"""What a resolver learns of its request, as `info.context`."""

from typing import TypedDict

from contentapi.core.identity import Actor


class RequestContext(TypedDict):
    """Built once for each request."""

    actor: Actor
