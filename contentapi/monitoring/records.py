"""What happened during a request: the values of its log line, its figures and its trace.

The outermost layer of the server creates a record for each request (`contentapi.server.observed_requests`). The layers
below write into the record of the current request. Outside of a request they write into `NO_REQUEST`, which nobody
reads.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import lru_cache
from random import getrandbits
from typing import Any


class RequestTrace(ABC):
    """The spans of a sampled request (`contentapi.monitoring.otlp`)."""

    @property
    @abstractmethod
    def traceresponse(self) -> str:
        """The header of the response with the trace and the span of the request, as in W3C Trace Context."""

    @abstractmethod
    def measure(self, name: str, attributes: Mapping[str, str] | None = None) -> AbstractContextManager[Any]:
        """Return a context manager that measures its block as a span."""

    @abstractmethod
    def add_statement(self, seconds: float, sql: object, error_type: str) -> None:
        """Add the span of a statement that has just ended. `error_type` is empty for a statement that succeeded."""

    @abstractmethod
    def finish(self, record: "RequestRecord") -> None:
        """End the span of the request with the values of its record."""


class RequestRecord:
    """A request: its id, method and path, and what the layers add to it.

    `operation` is the name of the request in metrics: the pattern of a path like `/posts/{post_id}`, or the root field
    of a GraphQL operation like `query posts`. It comes from this project's code and schema, never from the client.
    `operation_name` is the name that the client gave to its operation. `credential` identifies the credential, like
    `key:capi_1234abcd`, without its secret. `cost` is the cost of a GraphQL operation. `size` is the number of bytes of
    the body of the response. `errors` has the entries of the error table. `has_written` is whether the user wrote a
    moment ago, or None if Redis was not asked or did not answer (`contentapi.core.pins`). Times are in seconds.
    """

    operation = ""
    operation_name = ""
    credential = ""
    cost = 0
    status = 0
    size = 0
    waited = 0.0  # for a connection slot or for a lane
    errors: Sequence[Any] = ()
    has_written: bool | None = None
    trace_id = ""
    trace: RequestTrace | None = None  # only of a sampled request

    def __init__(self, method: str = "", path: str = "", request_id: str = "") -> None:
        self.id = request_id or new_request_id()
        self.method = method
        self.path = path
        self.statements: list[float] = []  # the time of each statement

    def add_statement(self, seconds: float, sql: object = "", error_type: str = "") -> None:
        self.statements.append(seconds)
        if self.trace is not None:
            self.trace.add_statement(seconds, sql, error_type)


def new_request_id() -> str:
    """Return 128 random bits. Clients see the id and it protects nothing, so it may be guessable."""
    return f"{getrandbits(128):032x}"


class NoRequest(RequestRecord):
    """Takes the place of a record outside of requests. It keeps nothing."""

    def __init__(self) -> None:
        super().__init__(request_id="-")
        self.__dict__["is_complete"] = True

    def __setattr__(self, name: str, value: Any) -> None:
        if "is_complete" not in self.__dict__:
            super().__setattr__(name, value)

    def add_statement(self, seconds: float, sql: object = "", error_type: str = "") -> None:
        """Keep nothing."""


NO_REQUEST = NoRequest()
current_record: ContextVar[RequestRecord] = ContextVar("current_record", default=NO_REQUEST)


@lru_cache(1024)
def format_route(pattern: str) -> str:
    """Return a URL pattern of Django as OpenAPI writes it: `/posts/{post_id}` for `posts/<str:post_id>`."""
    return "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", pattern)
