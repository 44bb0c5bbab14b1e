"""Check the credentials of open streams again: a stream ends with the rights that it began with.

A revoked key, a deleted or locked user, a token that has expired: the credential is not valid any more. A new role or
other scopes: the actor is another one. The client comes back, and gets 401 or its new rights.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from contentapi.auth.authentication import HEADERS, authenticate_request, load_function
from contentapi.core.errors import ApiError, Unavailable
from contentapi.core.identity import Actor
from contentapi.http.previews import TOKEN
from contentapi.streams.groups import OUTAGES, Readers
from contentapi.streams.hub import Hub
from contentapi.streams.opening import Credential
from contentapi.streams.stream import Stream

LOG = logging.getLogger("contentapi.streams")


class CredentialChecks:
    """Checks each credential once, for all of its streams."""

    def __init__(self, hub: Hub, readers: Readers) -> None:
        self.hub = hub
        self.readers = readers

    async def check(self) -> bool:
        """End the streams whose actor is another one now. Return False if that cannot be known at present."""
        streams: dict[tuple[Credential, Actor], list[Stream]] = {}
        for stream in self.hub.streams:
            opening = stream.opening
            if opening.credential.environ:
                streams.setdefault((opening.credential, opening.actor), []).append(stream)
        if not streams:
            self.hub.is_checked.set()
            return True
        try:
            actors = await self.readers.run(find_actors, [credential for credential, _ in streams])
        except Exception as error:
            self.hub.is_checked.clear()  # nothing is sent on rights that cannot be checked
            if isinstance(error, OUTAGES):
                return False
            raise
        self.hub.is_checked.set()
        for ((_, actor), members), present in zip(streams.items(), actors, strict=True):
            if present != actor:
                for stream in members:
                    stream.close("credential")
        return True


def find_actors(credentials: Sequence[Credential]) -> list[Actor | None]:
    """Return the present actors. Raises Django's database errors."""
    environs: list[Mapping[str, Any]] = [dict(credential.environ) for credential in credentials]
    plain = [environ for environ in environs if TOKEN not in environ]
    headers = [{name: environ[key] for name, key in HEADERS.items() if key in environ} for environ in plain]
    found = iter(load_function("AUTHENTICATE_AGAIN")(headers))
    return [find_preview_actor(environ) if TOKEN in environ else next(found) for environ in environs]


def find_preview_actor(environ: Mapping[str, Any]) -> Actor | None:
    try:
        return authenticate_request(environ)
    except Unavailable:
        raise
    except ApiError:
        return None
