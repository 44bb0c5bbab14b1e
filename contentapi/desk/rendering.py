"""How the admin shows values."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from contentapi.core import policy
from contentapi.core.errors import ApiError
from contentapi.core.identity import Actor, Scope

INTERFACES = {"admin": "in the admin", "GraphQL": "by a program", "REST": "by a program"}


def render_time(time: datetime | None) -> SafeString | None:
    """Return a time as HTML, which a script shows in the time zone of the browser."""
    if time is None:
        return None
    return format_html('<time datetime="{}" data-local>{} UTC</time>', time.isoformat(), f"{time:%Y-%m-%d %H:%M}")


def build_column(description: str, read: Callable[[Any], Any], **options: Any) -> Callable[[Any, Any], Any]:
    """Return a column of a list, or a field of a form, that shows what a function returns for the object."""
    column: Callable[[Any, Any], Any] = display(description=description, **options)(lambda _, row: read(row))
    return column


def build_time_column(field: str, description: str, **options: Any) -> Callable[[Any, Any], Any]:
    """Return a column that shows the time in a field of the object."""
    return build_column(description, lambda row: render_time(getattr(row, field)), **options)


def describe_origin(person: str, origin: str) -> str:
    """Return who did something, and with what: `Edda Editor, in the admin`, `by a program, API key capi_1234abcd`."""
    interface, comma, credential = origin.partition(", ")
    return ", ".join(filter(None, (person, f"{INTERFACES.get(interface, interface)}{comma}{credential}")))


def list_scopes(actor: Actor) -> list[tuple[str, str]]:
    """Return the scopes that the actor may grant, as choices of a form."""
    return [(scope.value, f"{scope.value}: {scope.label}") for scope in Scope if policy.may_grant_scope(actor, scope)]


def describe_error(error: ApiError) -> str:
    """Return the message of an error for a person, without the names that fields have in the API."""
    return " ".join(problem for problems in error.fields.values() for problem in problems) or error.message
