"""Selections: the fields that a client selects; and parameters: the values that each execution binds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from operator import attrgetter
from typing import Any, cast

import msgspec
from django.db.models import Expression
from django.db.models.sql.compiler import SQLCompiler

from contentapi.core.errors import ApiError
from contentapi.core.identity import Actor
from contentapi.core.pagination import ConnectionWindow

Arguments = Mapping[str, Any]
ReadArguments = Callable[[Any], Arguments]
PREVIEW_VALUES = ("link_id", "post_id")  # of `Preview`, which no SQL depends on


@dataclass(frozen=True, slots=True)
class SelectedField:
    """A selected field with its response key. The response has the order of the selection.

    `read_arguments` takes the variables of a request and returns the field's arguments, coerced and with defaults.
    `origin` is not used here. The GraphQL executor stores the position of the field in it, and reads it back from
    `SelectedFieldError`.
    """

    key: str
    name: str
    read_arguments: ReadArguments | None = None
    selection: tuple["SelectedField", ...] = ()
    origin: Any = None


class SelectedFieldError(Exception):
    """An argument of a selected field is invalid. The cause states why."""

    def __init__(self, selected: SelectedField, cause: ApiError) -> None:
        super().__init__(str(cause))
        self.selected = selected
        self.cause = cause


class ExecutionInputs(msgspec.Struct):
    """The values of one execution, from which `Parameter` reads."""

    actor: Actor
    rows: Any  # `Rows`; None for a row to insert
    window: ConnectionWindow | None  # of a connection
    arguments: list[Any]  # the parsed arguments of each selected field that has some
    parent: int = 0  # of a deferred field: the key of the row to which its rows belong


class Parameter(Expression):
    """A placeholder. Each execution passes its inputs, in general `ExecutionInputs`, to `read` to get the value."""

    def __init__(self, read: Callable[[Any], Any]) -> None:
        super().__init__()
        self.read = read

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, tuple[Any, ...]]:  # noqa: ARG002 - Django's
        return "%s", (self,)


def is_structural(value: object) -> bool:
    """Return whether the value of an argument can change the structure of the statement and must not be a parameter."""
    return value is None or isinstance(value, Enum)


def build_parametrised_actor(
    actor: Actor, read_actor: Callable[[ExecutionInputs], Actor] = attrgetter("actor")
) -> Actor:
    """Return a copy of the actor with a `Parameter` as its user id, and for each value of its preview.

    SQL built from the copy serves every actor with the same role, scopes, kind of credential and kind of preview.
    """
    preview = actor.preview
    if preview is not None:
        values: dict[str, Any] = {name: build_preview_parameter(read_actor, name) for name in PREVIEW_VALUES}
        texts = build_preview_parameter(read_actor, "texts")
        actor = replace(actor, preview=replace(preview, **values, read_texts=lambda: texts))
    if actor.user_id is None:
        return actor
    return replace(actor, user_id=cast("int", Parameter(lambda inputs: read_actor(inputs).user_id)))


def build_preview_parameter(read_actor: Callable[[ExecutionInputs], Actor], name: str) -> Parameter:
    return Parameter(lambda inputs: getattr(read_actor(inputs).preview, name))
