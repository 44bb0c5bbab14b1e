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


class RequestRecord:
    """A request: its id, method and path, and what the layers add to it.

    `operation` is the name of the request in metrics: the pattern of a path like `/posts/{post_id}`, or the root field
    of a GraphQL operation like `query posts`. It comes from this project's code and schema, never from the client.
    `operation_name` is the name that the client gave to its operation. `credential` identifies the credential, like
    `key:capi_1234abcd`, without its secret. `cost` is the cost of a GraphQL operation. `size` is the number of bytes of
    the body of the response. `errors` has the entries of the error table. Times are in seconds.
    """

    operation = ""
    operation_name = ""
    credential = ""
    cost = 0
    status = 0
    size = 0
    waited = 0.0  # for a connection slot or for a lane
    errors: Sequence[Any] = ()
    trace_id = ""

    def __init__(self, method: str = "", path: str = "", request_id: str = "") -> None:
        self.id = request_id or new_request_id()
        self.method = method
        self.path = path
        self.statements: list[float] = []  # the time of each statement

    def add_statement(self, seconds: float) -> None:
        self.statements.append(seconds)


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

    def add_statement(self, seconds: float) -> None:
        """Keep nothing."""


NO_REQUEST = NoRequest()
current_record: ContextVar[RequestRecord] = ContextVar("current_record", default=NO_REQUEST)


@lru_cache(1024)
def format_route(pattern: str) -> str:
    """Return a URL pattern of Django as OpenAPI writes it: `/posts/{post_id}` for `posts/<str:post_id>`."""
    return "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", pattern)
