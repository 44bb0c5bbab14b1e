"""What belongs to one request, whichever face it came to: its id, and how its view marks that it charges for it."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar

View = TypeVar("View", bound=Callable[..., Any])

current_request_id: ContextVar[str] = ContextVar("request_id", default="-")


def charges_itself(view: View) -> View:
    """Mark a view that charges for its requests, and puts the headers of `contentapi.rates` into its answers."""
    vars(view)["charges_itself"] = True
    return view
