"""Fields of the SDL, and the check that a column of a model fits one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import FieldDoesNotExist
from django.db.models import (
    BigIntegerField,
    BooleanField,
    CharField,
    DateTimeField,
    DecimalField,
    Field,
    FloatField,
    IntegerField,
    Model,
    TextField,
    UUIDField,
)
from django.db.models.functions import Cast

from contentapi.db.expressions import Term

TEXTS = (CharField, TextField)
COLUMNS: dict[str, tuple[type[Field[Any, Any]], ...]] = {  # the columns that fit a scalar of the SDL
    "ID": (*TEXTS, IntegerField, UUIDField),
    "String": (*TEXTS, IntegerField, UUIDField),
    "Int": (IntegerField,),
    "Float": (FloatField, IntegerField, DecimalField),
    "Boolean": (BooleanField,),
    "DateTime": (DateTimeField,),
}


class ProjectionError(TypeError):
    """SDL, projection and model contradict each other. Raised at start-up."""


@dataclass(frozen=True, slots=True)
class SdlField:
    """A field of an SDL type.

    `written` is its type as in the SDL, such as `[Post!]!`. `projection` is the `Projection`, `ConnectionType` or other
    object that is bound to the type. `values` are the values of an enum. `arguments` has a default for each name.
    """

    type_name: str
    written: str
    projection: object = None
    is_list: bool = False
    is_nullable: bool = True
    values: frozenset[str] | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)


def get_model_field(model: type[Model], name: str) -> Any:
    """Return a field or a relation of a model. Raises `ProjectionError`."""
    try:
        return model._meta.get_field(name)
    except FieldDoesNotExist:
        raise ProjectionError(f"{model.__name__} has no field {name}") from None


def list_plain_columns(model: type[Model]) -> list[Field[Any, Any]]:
    guarded = getattr(model, "guarded_columns", ())  # their permission rules must be declared
    return [field for field in model._meta.concrete_fields if not field.is_relation and field.name not in guarded]


def require_arguments(sdl: SdlField, names: Iterable[str]) -> None:
    given, taken = join_names(sdl.arguments), join_names(names)
    if given != taken:
        raise ProjectionError(f"the SDL's arguments are {given}; the projection's are {taken}")


def cast_column_to_sdl(value: Term, column: Field[Any, Any], sdl: SdlField) -> Term:
    """Return an expression that PostgreSQL prints as the SDL's type. Raises `ProjectionError` if there is none."""
    element = column.base_field if isinstance(column, ArrayField) else column
    if sdl.is_list != isinstance(column, ArrayField):
        wanted_type = f"list of {sdl.type_name}" if sdl.is_list else sdl.type_name
        raise ProjectionError(f"a {type(column).__name__} cannot be a {wanted_type}")
    if sdl.values is not None:
        choices = {str(value) for value, _ in element.choices or ()}
        if choices != sdl.values:
            raise ProjectionError(f"{sdl.type_name} has {join_names(sdl.values)}; the column has {join_names(choices)}")
        return value
    wanted = COLUMNS.get(sdl.type_name, ())
    if not isinstance(element, wanted) or (sdl.type_name == "Int" and isinstance(element, BigIntegerField)):
        raise ProjectionError(f"a {type(element).__name__} cannot be a {sdl.type_name}")
    if sdl.type_name in ("ID", "String") and not isinstance(element, TEXTS):
        return Cast(value, TextField())
    return value


def join_names(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
