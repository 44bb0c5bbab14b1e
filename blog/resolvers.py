"""GraphQL's way into the blog. Each function resolves the field it is named after."""

from typing import Any

from ariadne import MutationType, ObjectType, QueryType
from django.db.models import QuerySet
from graphql import GraphQLResolveInfo

from blog import selectors, services
from blog.models import Author, Comment, Post
from contentapi.identity import RequestContext

Info = GraphQLResolveInfo[RequestContext]

QUERY = QueryType()
MUTATION = MutationType()
POST = ObjectType("Post")
AUTHOR = ObjectType("Author")
BINDABLES = [QUERY, MUTATION, POST, AUTHOR]


@QUERY.field("post")
def post(_: None, info: Info, id: str) -> Post | None:
    return selectors.post_by_id(info.context["actor"], id).first()


@QUERY.field("posts")
def posts(_: None, info: Info, limit: int | None = None, status: str | None = None) -> QuerySet[Post]:
    return selectors.list_posts(info.context["actor"], limit=limit, status=status)


@QUERY.field("author")
def author(_: None, info: Info, id: str) -> Author | None:
    return selectors.author_by_id(id).first()


@MUTATION.field("createPost")
def create_post(_: None, info: Info, input: dict[str, Any]) -> Post:
    return services.create_post(actor=info.context["actor"], **input)


@POST.field("comments")
def post_comments(post: Post, info: Info, limit: int | None = None) -> QuerySet[Comment]:
    return selectors.list_comments(post, limit=limit)


@POST.field("commentCount")
def post_comment_count(post: Post, info: Info) -> int:
    return selectors.count_comments(post)


@AUTHOR.field("email")
def author_email(author: Author, info: Info) -> str | None:
    return selectors.author_email(info.context["actor"], author)


@AUTHOR.field("posts")
def author_posts(author: Author, info: Info, limit: int | None = None, status: str | None = None) -> QuerySet[Post]:
    return selectors.list_posts(info.context["actor"], author=author, limit=limit, status=status)
