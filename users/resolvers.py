"""Resolvers of the GraphQL fields of users. Each function calls one selector."""

from ariadne import QueryType
from django.db.models import QuerySet
from graphql import GraphQLResolveInfo

from contentapi.graphql.context import RequestContext
from users import selectors
from users.models import User

Info = GraphQLResolveInfo[RequestContext]

QUERY = QueryType()
BINDABLES = [QUERY]


@QUERY.field("viewer")
def viewer(_: None, info: Info) -> QuerySet[User]:
    return selectors.viewer(info.context["actor"])
