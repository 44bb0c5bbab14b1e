"""The id of the current request, for responses and log lines."""

import logging
from contextvars import ContextVar
from random import getrandbits

current_request_id: ContextVar[str] = ContextVar("request_id", default="-")


def new_request_id() -> str:
    """Return 128 random bits. Clients see the id and it protects nothing, so it may be guessable."""
    return f"{getrandbits(128):032x}"


class RequestIdFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = current_request_id.get()
        return True
