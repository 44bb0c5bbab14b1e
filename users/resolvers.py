"""Resolvers of the GraphQL fields of users. Each function calls one selector or one service."""

from typing import Any

from ariadne import EnumType, InputType, MutationType, QueryType
from graphql import GraphQLResolveInfo

from contentapi.graphql.context import RequestContext
from contentapi.graphql.sorting import build_ordering
from contentapi.projection import ConnectionQuery, Ordering, Rows
from users import selectors, services
from users.models import User

Info = GraphQLResolveInfo[RequestContext]

QUERY = QueryType()
MUTATION = MutationType()
BINDABLES = [
    *(QUERY, MUTATION),
    *(EnumType("UserSortField", selectors.USER_SORT_FIELDS), InputType("UserSort", out_type=build_ordering)),
]


@QUERY.field("viewer")
def viewer(_: None, info: Info) -> Rows[User]:
    return selectors.select_viewer(info.context["actor"])


@QUERY.field("user")
def user(_: None, info: Info, id: str) -> Rows[User]:
    return selectors.select_user_by_id(info.context["actor"], id)


@QUERY.field("users")
def users(_: None, info: Info, order_by: Ordering | None = None, **window: Any) -> ConnectionQuery:
    return selectors.build_users_connection(info.context["actor"], order_by=order_by, **window)


@MUTATION.field("createUser")
def create_user(_: None, info: Info, input: dict[str, Any]) -> User:
    return services.create_user(actor=info.context["actor"], **input)


@MUTATION.field("deleteUser")
def delete_user(_: None, info: Info, input: dict[str, Any]) -> dict[str, str]:
    services.delete_user(actor=info.context["actor"], user_id=input["id"])
    return {"deleted_user_id": input["id"]}
