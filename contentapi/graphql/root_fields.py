"""Resolvers of root fields: each calls one selector or one service with the actor and the arguments of the field.

    MUTATION = bind_fields(
        MutationType(),
        {
            "createPost": pass_arguments(services.create_post),
            "deletePost": pass_arguments(services.delete_post, "post_id"),
            "updatePost": pass_changes(services.edit_post, "post_id"),
        },
    )

The fields of an argument `input` count as arguments. They have their names in Python.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any, TypedDict, TypeVar

import msgspec
from ariadne import EnumType, InputType, ObjectType, QueryType

from contentapi.core.identity import Actor
from contentapi.graphql.limits import require_within_limit
from contentapi.projection import NodeQuery, NodeType, Ordering

Resolver = Callable[..., Any]
SORT_DIRECTION = EnumType("SortDirection", {"asc": False, "desc": True})
K = TypeVar("K", bound=ObjectType)


class RequestContext(TypedDict):
    """The value of `info.context` in resolvers."""

    actor: Actor


class Info(msgspec.Struct):
    """What a resolver of a root field receives of graphql-core's `GraphQLResolveInfo`."""

    context: RequestContext


def bind_fields(kind: K, resolvers: Mapping[str, Resolver]) -> K:
    for name, resolver in resolvers.items():
        kind.set_field(name, resolver)
    return kind


def pass_id(select: Callable[[Actor, str], Any]) -> Resolver:
    """Return a resolver that calls a selector with the argument `id`."""
    return lambda _, info, id: select(info.context["actor"], id)  # noqa: A006


def pass_arguments(function: Callable[..., Any], id_name: str = "", *, payload: str = "") -> Resolver:
    """Return a resolver that calls a function with the arguments.

    `id_name` is the parameter for the argument `id`, and `payload` the field that returns the result.
    """

    def resolve(_: None, info: Info, input: Mapping[str, Any] | None = None, **arguments: Any) -> Any:  # noqa: A002
        values = arguments if input is None else input
        if id_name:
            values = {**values, id_name: values["id"]}
            del values["id"]
        result = function(actor=info.context["actor"], **values)
        return {payload: result} if payload else result

    return resolve


def pass_changes(service: Callable[..., Any], id_name: str, **constants: Any) -> Resolver:
    """Return a resolver that calls a service with the arguments as `changes`, but for `id` and `expectedVersion`.

    `constants` are further changes.
    """

    def resolve(_: None, info: Info, input: Mapping[str, Any] | None = None, **arguments: Any) -> Any:  # noqa: A002
        changes = {**(input or arguments), **constants}
        keys = {id_name: changes.pop("id"), "expected_version": changes.pop("expected_version", None)}
        return service(actor=info.context["actor"], changes=changes, **keys)

    return resolve


def build_node_resolvers(node_type: NodeType) -> QueryType:
    """Return the resolvers of `node(id:)` and `nodes(ids:)`, for objects of any type that implements `Node`."""

    def resolve_nodes(_: None, info: Info, ids: Sequence[str]) -> NodeQuery:
        """Raises `LimitExceeded` for more ids than a page has items."""
        require_within_limit("number of ids", len(ids), "contentapi_max_page")
        return NodeQuery(node_type, info.context["actor"], ids)

    return bind_fields(
        QueryType(),
        {"node": lambda _, info, id: resolve_nodes(_, info, [id]), "nodes": resolve_nodes},  # noqa: A006
    )


def build_enum(kind: type[Enum], name: str = "") -> EnumType:
    """Return the enum of the SDL with the values of an enum of Python, by default with its name."""
    return EnumType(name or kind.__name__, {member.value: member for member in kind})


def build_sort(name: str, fields: Mapping[str, Ordering]) -> tuple[EnumType, InputType]:
    """Return the enum of the fields by which a type is ordered, and the input of an order.

    `fields` are the ascending orders. An input becomes an ordering: the executor keeps a statement for each.
    """
    return EnumType(f"{name}SortField", dict(fields)), InputType(
        f"{name}Sort", out_type=lambda given: replace(given["field"], descending=given["direction"])
    )
