"""GraphQL's way to users. Each function resolves the field it is named after: which rows."""

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
