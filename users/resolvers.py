"""Resolvers of the GraphQL fields of users. Each function calls one selector."""

from ariadne import QueryType
from graphql import GraphQLResolveInfo

from contentapi.graphql.context import RequestContext
from contentapi.projection import Rows
from users import selectors
from users.models import User

Info = GraphQLResolveInfo[RequestContext]

QUERY = QueryType()
BINDABLES = [QUERY]


@QUERY.field("viewer")
def viewer(_: None, info: Info) -> Rows[User]:
    return selectors.select_viewer(info.context["actor"])
