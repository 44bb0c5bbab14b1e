"""The rows of own types that refer to an object, as messages describe them to an actor."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db.models import ProtectedError

from contentapi.core.errors import Conflict
from contentapi.core.identity import Actor
from contentapi.events.declarations import list_uses

NAMED = 5  # of the rows of a type


def describe_uses(actor: Actor, target: str, pk: Any, most: int = NAMED, *, requiring: bool = False) -> list[str]:
    """Return what refers to an object, or cannot do without it: the names of the first rows of each type that the actor
    may see, and how many others: `“Soup”`, `2 other recipes`.
    """
    found = []
    for use in list_uses(target):
        rows = (use.requiring if requiring else use.select)(pk)
        named = [f"“{row}”" for row in rows.filter(use.visible(actor)).order_by("pk")[:most]]
        others = rows.count() - len(named)
        noun = f"{'other ' if named else ''}{use.nouns[others != 1]}"
        found += [*named, f"{others} {noun}"] if others else named
    return found


@contextmanager
def refuse_required(actor: Actor, target: str, pk: int) -> Iterator[None]:
    """Raise `Conflict` if the block deletes an object that rows of own types require."""
    try:
        yield
    except ProtectedError:
        names = ", ".join(describe_uses(actor, target, pk, requiring=True))
        raise Conflict(f"This is required by {names}. Change or delete what requires it first.") from None
