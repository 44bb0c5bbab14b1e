"""Fields of the root types, prepared for execution once for each document."""

from collections.abc import Hashable
from typing import Any, NoReturn, TypeGuard

import msgspec
from django.db.models import Model, QuerySet
from graphql import (
    FieldNode,
    GraphQLField,
    GraphQLNamedType,
    GraphQLOutputType,
    GraphQLResolveInfoHelpers,
    ResponsePath,
    get_named_type,
    get_nullable_type,
    is_list_type,
    is_non_null_type,
)
from graphql.execution.collect_fields import FieldDetailsList

from contentapi.graphql.bindings import get_projection
from contentapi.projection import ConnectionQuery, ConnectionType, NodeQuery, NodeType, Projection, RelayType, Rows
from contentapi.projection.selections import ReadArguments


def refuse_async_work(*_: Any) -> NoReturn:
    raise TypeError("Resolvers are synchronous.")


def is_async_value(_: Any) -> TypeGuard[Any]:
    """Return False for the value of a resolver: it is neither awaitable nor an asynchronous iterable."""
    return False


# The default helpers and their executor refer to each other. Shared helpers end the cycle, so that the memory of a
# request is freed when it ends.
NO_ASYNC_HELPERS = GraphQLResolveInfoHelpers(gather=refuse_async_work, track=refuse_async_work)
WITHOUT_ASYNC_WORK = (is_async_value, None, NO_ASYNC_HELPERS)  # the last values of `GraphQLResolveInfo`

CLASSES: dict[type, tuple[type, ...]] = {
    Projection: (Rows, Model, QuerySet),
    ConnectionType: (ConnectionQuery,),
    NodeType: (NodeQuery,),
}
VALUES = tuple(each for classes in CLASSES.values() for each in classes)


class ReturnedType(msgspec.Struct, frozen=True):
    """The type of a field: its named type with its projection, whether it is a list, and whether it is not null.

    `classes` are those of the values whose selection a statement reads, and `model` is the model of their rows.
    """

    named: GraphQLNamedType
    projection: Projection | RelayType | None
    is_list: bool
    is_non_null: bool
    classes: tuple[type, ...]
    model: type[Model] | None

    @classmethod
    def of(cls, kind: GraphQLOutputType) -> "ReturnedType":
        named = get_named_type(kind)
        projection = get_projection(named)
        is_list, is_non_null = is_list_type(get_nullable_type(kind)), is_non_null_type(kind)
        classes = next((CLASSES[base] for base in CLASSES if isinstance(projection, base)), ())
        return cls(named, projection, is_list, is_non_null, classes, getattr(projection, "model", None))


class RootField(msgspec.Struct, frozen=True):
    """A field of a root type under its response key, prepared for execution."""

    key: str
    field: GraphQLField
    details: FieldDetailsList
    nodes: list[FieldNode]
    path: ResponsePath
    read_arguments: ReadArguments | None
    returned: "ReturnedType"
    info: tuple[Any, ...]  # the constant values of `GraphQLResolveInfo`, which are the first ones
    is_mutation: bool
    place: Hashable  # the cache key of its selection, from `get_selection_key`
    varies: bool  # whether its selection depends on variables. Those of its arguments are in the cache key of its rows
