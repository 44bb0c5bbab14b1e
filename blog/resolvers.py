"""GraphQL's way into the blog. Each function resolves the field it is named after: which rows, or what is done."""

from typing import Any

from ariadne import MutationType, QueryType
from django.db.models import QuerySet
from graphql import GraphQLResolveInfo

from blog import selectors, services
from blog.models import Author, Post
from contentapi.identity import RequestContext

Info = GraphQLResolveInfo[RequestContext]

QUERY = QueryType()
MUTATION = MutationType()
BINDABLES = [QUERY, MUTATION]


@QUERY.field("post")
def post(_: None, info: Info, id: str) -> QuerySet[Post]:
    return selectors.post_by_id(info.context["actor"], id)


@QUERY.field("posts")
def posts(_: None, info: Info, limit: int | None = None, status: str | None = None) -> QuerySet[Post]:
    return selectors.list_posts(info.context["actor"], limit=limit, status=status)


@QUERY.field("author")
def author(_: None, info: Info, id: str) -> QuerySet[Author]:
    return selectors.author_by_id(info.context["actor"], id)


@MUTATION.field("createPost")
def create_post(_: None, info: Info, input: dict[str, Any]) -> Post:
    return services.create_post(actor=info.context["actor"], **input)
