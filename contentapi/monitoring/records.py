"""What happened during a request: the values of its log line, its figures and its trace.

The outermost layer of the server creates a record for each request (`contentapi.server.observed_requests`). The layers
below write into the record of the current request. Outside of a request they write into `NO_REQUEST`, which nobody
reads.
"""

import re
from collections.abc import Sequence
from contextvars import ContextVar
from functools import lru_cache
from random import getrandbits
from typing import Any

import msgspec

IDS = "((?!0{32})[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"  # of trace and span, with the flags
TRACEPARENT = re.compile(f"00-{IDS}|(?!00|ff)[0-9a-f]{{2}}-{IDS}(?:-.*)?")  # W3C Trace Context


def new_request_id() -> str:
    """Return 128 random bits. Clients see the id and it protects nothing, so it may be guessable."""
    return getrandbits(128).to_bytes(16).hex()


class RequestRecord(msgspec.Struct):
    """A request, and what the layers add to it. Times are in seconds."""

    method: str = ""
    path: str = ""
    id: str = msgspec.field(default_factory=new_request_id)
    # In metrics: a pattern like `/posts/{post_id}` or a root field like `query posts`, never a text of the client
    operation: str = ""
    operation_name: str = ""  # that the client gave to its operation
    credential: str = ""  # which one it is, like `key:capi_1234abcd`, without its secret
    cost: int = 0  # of a GraphQL operation
    status: int = 0
    size: int = 0  # bytes of the body of the response
    waited: float = 0.0  # for a connection slot or for a lane
    errors: Sequence[Any] = ()  # entries of the error table
    has_written: bool | None = None  # the user, a moment ago; None if Redis was not asked or did not answer
    statements: list[float] = []  # the time of each statement
    trace_id: str = ""  # if traces are sent
    traceparent: str = ""  # the header
    trace: Any = None  # the `contentapi.monitoring.otlp.TracedRequest` of a sampled request

    def find_trace_id(self) -> str:
        """Return the id of the trace of a request; that of a valid `traceparent` if this server sends no traces."""
        match = None if self.trace_id else TRACEPARENT.fullmatch(self.traceparent.strip())
        return (match[1] or match[2]) if match else self.trace_id

    def add_statement(self, seconds: float, sql: object = "", error_type: str = "") -> None:
        self.statements.append(seconds)
        if self.trace is not None:
            self.trace.add_statement(seconds, sql, error_type)


class NoRequest(RequestRecord):
    """Takes the place of a record outside of requests. It keeps nothing."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Keep nothing."""

    def add_statement(self, seconds: float, sql: object = "", error_type: str = "") -> None:
        """Keep nothing."""


NO_REQUEST = NoRequest(id="-")
current_record: ContextVar[RequestRecord] = ContextVar("current_record", default=NO_REQUEST)


@lru_cache(1024)
def format_route(pattern: str) -> str:
    """Return a URL pattern of Django as OpenAPI writes it: `/posts/{post_id}` for `posts/<str:post_id>`."""
    return "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", pattern)
