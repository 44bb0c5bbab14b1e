"""Read a request of ASGI: its WSGI environ, with which the rest of the project works, and its body.

A client that sends its body slowly, or not at all, holds little memory for a few seconds.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from io import BytesIO
from typing import Any

from contentapi.conf import conf
from contentapi.conf.timeouts import STREAM_BODY_TIMEOUT
from contentapi.core.errors import Malformed, Unavailable

Scope = Mapping[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
UNPREFIXED = {"CONTENT_TYPE", "CONTENT_LENGTH"}
MOST_BUFFERED = 32 * 1024 * 1024  # bytes of bodies, of all requests that are not handled yet


def build_environ(scope: Scope) -> dict[str, Any]:
    """Return the WSGI environ of a request (PEP 3333), without its body.

    A header whose name has an underscore is left out: in an environ it could imitate one of a proxy.
    """
    client, server = scope.get("client") or ("", 0), scope.get("server") or ("", 0)
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": scope["path"].encode().decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": str(server[0]),
        "SERVER_PORT": str(server[1]),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": str(client[0]),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": BytesIO(),
    }
    for raw_name, raw_value in scope["headers"]:
        if b"_" in raw_name:
            continue
        name, value = raw_name.decode("latin-1").upper().replace("-", "_"), raw_value.decode("latin-1")
        name = name if name in UNPREFIXED else f"HTTP_{name}"
        environ[name] = f"{environ[name]},{value}" if name in environ else value
    return environ


class BodyReader:
    """Reads bodies, whose parts together have a limit."""

    def __init__(self) -> None:
        self.buffered = 0  # bytes

    async def read(self, receive: Receive, environ: dict[str, Any]) -> int:
        """Put the body into the environ. One that is too long is cut: `read_request_body` refuses it.

        Returns the bytes that count against the limit until the caller gives them to `forget`.

        Raises `Malformed` if it does not arrive in time, and `Unavailable` if too many others wait for theirs.
        """
        limit = conf.environment.contentapi_max_body
        announced = environ.get("CONTENT_LENGTH", "0")
        if "HTTP_TRANSFER_ENCODING" not in environ and announced.isdecimal() and int(announced) > limit:
            return 0
        body = bytearray()
        try:
            async with asyncio.timeout(STREAM_BODY_TIMEOUT):
                await self.read_parts(receive, body, limit)
        except BaseException as error:
            self.forget(len(body))
            if isinstance(error, TimeoutError):
                raise Malformed(f"The body did not arrive within {STREAM_BODY_TIMEOUT:g} seconds.") from None
            raise
        environ["wsgi.input"] = BytesIO(bytes(body))
        return len(body)

    async def read_parts(self, receive: Receive, body: bytearray, limit: int) -> None:
        """Add the parts of a body, up to its end or to more than the limit. Raises as `read` does."""
        while len(body) <= limit:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Malformed("The body could not be read completely.")
            part = message.get("body", b"")
            self.buffered += len(part)
            body += part
            if self.buffered > MOST_BUFFERED:
                raise Unavailable(limit="size of waiting bodies")
            if not message.get("more_body", False):
                return

    def forget(self, size: int) -> None:
        self.buffered -= size
