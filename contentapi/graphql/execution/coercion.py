"""Input types made ready: graphql-core's coercion of variables, for which it looks at every type and field anew."""

from collections.abc import Callable
from functools import cache, cached_property, partial
from typing import Any

from graphql import (
    GraphQLInputObjectType,
    GraphQLInputType,
    Undefined,
    get_nullable_type,
    is_input_object_type,
    is_leaf_type,
    is_required_input_field,
)
from graphql.utilities import coerce_input_value
from graphql.utilities.coerce_input_value import coerce_default_value

Coerce = Callable[[Any], Any]
REQUIRED = object()


def build_coercer(kind: GraphQLInputType) -> Coerce:
    """Return `coerce_input_value` of one type: a value's coercion, or `Undefined` where it is none of the type.

    Only what belongs to the schema is kept: each document has lists and non-null types of its own.
    """
    nullable = get_nullable_type(kind)
    is_required = nullable is not kind
    if is_leaf_type(nullable):
        return partial(coerce_leaf, nullable.coerce_input_value, Undefined if is_required else None)
    if is_input_object_type(nullable) and not nullable.is_one_of:
        coerce = get_input_object_coercer(nullable)
        return partial(coerce_not_null, coerce) if is_required else coerce
    return partial(coerce_generic, kind)


def coerce_leaf(coerce: Coerce, null: Any, value: Any) -> Any:
    if value is None:
        return null
    try:
        return coerce(value)
    except Exception:  # noqa: BLE001 - as graphql-core has it: whatever a scalar raises
        return Undefined


def coerce_not_null(coerce: Coerce, value: Any) -> Any:
    return Undefined if value is None else coerce(value)


def coerce_generic(kind: GraphQLInputType, value: Any) -> Any:
    return coerce_input_value(value, kind)


@cache
def get_input_object_coercer(kind: GraphQLInputObjectType) -> "InputObjectCoercer":
    return InputObjectCoercer(kind)


class InputObjectCoercer:
    def __init__(self, kind: GraphQLInputObjectType) -> None:
        self.kind = kind

    @cached_property
    def fields(self) -> list[tuple[str, str, Coerce, Any]]:
        """Return of each field its name, its name in Python, its coercion, and its default: `REQUIRED`, or
        `Undefined` for none. A type may have fields of itself, so they are made when they are needed.
        """
        return [
            (
                name,
                field.out_name or name,
                build_coercer(field.type),
                REQUIRED if is_required_input_field(field) else coerce_default_value(field),
            )
            for name, field in self.kind.fields.items()
        ]

    def __call__(self, value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, dict):
            return Undefined
        coerced: dict[str, Any] = {}
        known = 0
        for name, out_name, coerce, default in self.fields:
            if name in value:
                known += 1
                coerced[out_name] = given = coerce(value[name])
                if given is Undefined:
                    return Undefined
            elif default is REQUIRED:
                return Undefined
            elif default is not Undefined:
                coerced[out_name] = default
        return self.kind.out_type(coerced) if known == len(value) else Undefined
