"""What belongs to one request, whichever face it came to: its id, what is replied to it, and how its view marks that it
charges for it."""

import logging
from contextvars import ContextVar
from random import getrandbits
from typing import NamedTuple

current_request_id: ContextVar[str] = ContextVar("request_id", default="-")


def new_request_id() -> str:
    """Return 128 random bits: an id is told to everybody and guards nothing, so that they need not be unguessable."""
    return f"{getrandbits(128):032x}"


class Response(NamedTuple):
    """What goes back to the client, to be sent by whichever way the request has come."""

    status: int
    headers: dict[str, str]
    body: bytes


class RequestIdFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = current_request_id.get()
        return True
