"""Fields of the root types, prepared for execution once for each document."""

from collections.abc import Hashable
from typing import Any, NamedTuple, NoReturn, TypeGuard

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
from contentapi.projection import Projection, RelayType
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


class ReturnedType(NamedTuple):
    """The type of a field: its named type with its projection, whether it is a list, and whether it is not null."""

    named: GraphQLNamedType
    projection: Projection | RelayType | None
    is_list: bool
    is_non_null: bool

    @classmethod
    def of(cls, kind: GraphQLOutputType) -> "ReturnedType":
        named = get_named_type(kind)
        return cls(named, get_projection(named), is_list_type(get_nullable_type(kind)), is_non_null_type(kind))


class RootField(NamedTuple):
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
