"""What a client selects of an object, and the values that a statement is given anew at each execution."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from operator import attrgetter
from typing import Any, NamedTuple, cast

from django.db.models import Expression
from django.db.models.sql.compiler import SQLCompiler

from contentapi.core.errors import ApiError
from contentapi.core.identity import Actor
from contentapi.core.pagination import ConnectionWindow

Arguments = Mapping[str, Any]
ReadArguments = Callable[[Any], Arguments]


@dataclass(frozen=True, slots=True)
class SelectedField:
    """One field of a selection, under its response key. The order of a selection is that of the answer.

    `read_arguments` returns the field's arguments, coerced and with their defaults, given the variables of a request.
    `origin` is whoever selects' own: where the field stands, for `FieldFailed`.
    """

    key: str
    name: str
    read_arguments: ReadArguments | None = None
    selection: tuple["SelectedField", ...] = ()
    origin: Any = None


class SelectedFieldError(Exception):
    """What a selected field was given cannot be used; the cause says why."""

    def __init__(self, selected: SelectedField, cause: ApiError) -> None:
        super().__init__(str(cause))
        self.selected = selected
        self.cause = cause


class ExecutionInputs(NamedTuple):
    """What the parameters of one execution are read from: the asker, the rows with their limit and offset or, of a
    connection, their window, and what each selected field that has arguments makes of them.
    """

    actor: Actor
    rows: Any  # the QuerySet
    limit: int | None
    offset: int
    window: ConnectionWindow | None
    arguments: list[Any]


class Parameter(Expression):
    """A place in a statement for a value that is read from the inputs of each execution, a projection's `Inputs`."""

    def __init__(self, read: Callable[[Any], Any]) -> None:
        super().__init__()
        self.read = read

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, tuple[Any, ...]]:  # noqa: ARG002 - Django's
        return "%s", (self,)


def is_fixed(value: object) -> bool:
    """Whether the value of an argument decides the structure of the statement, so that no parameter replaces it."""
    return value is None or isinstance(value, Enum)


def parametrised_actor(actor: Actor, asker: Callable[[ExecutionInputs], Actor] = attrgetter("actor")) -> Actor:
    """Return an actor with a parameter for its id: what the rules make of it serves everybody of the same standing."""
    return replace(
        actor,
        user_id=None if actor.user_id is None else cast("int", Parameter(lambda inputs: asker(inputs).user_id)),
    )


def actor_cache_key(actor: Actor) -> tuple[Any, ...]:
    """Return what of an actor decides the structure of a statement."""
    return actor.role, frozenset(actor.scopes), actor.credential, actor.user_id is None
