"""strawberry-django with its optimizer, parser cache and validation cache."""

import enum
from datetime import datetime

import strawberry
import strawberry_django
from django.db.models import Count, IntegerField, OuterRef, Subquery
from django.urls import path
from strawberry.django.views import GraphQLView
from strawberry.extensions import ParserCache, ValidationCache
from strawberry_django.optimizer import DjangoOptimizerExtension

from blog import models


@strawberry.enum
class PostStatus(enum.Enum):
    draft = "draft"
    published = "published"


@strawberry_django.type(models.Author)
class Author:
    id: strawberry.ID
    name: str
    bio: str
    avatar_url: str
    email: str


@strawberry_django.type(models.Comment)
class Comment:
    id: strawberry.ID
    body: str
    author: Author


COMMENT_COUNT = Subquery(
    models.Comment.objects.filter(post=OuterRef("pk")).order_by().values("post").annotate(n=Count("*")).values("n"),
    output_field=IntegerField(),
)


@strawberry_django.type(models.Post)
class Post:
    id: strawberry.ID
    title: str
    body: str
    author: Author
    comments: list[Comment]
    created_at: datetime
    updated_at: datetime
    tags: list[str]

    @strawberry_django.field(only=["status"])
    def status(self, root: strawberry.Parent[models.Post]) -> PostStatus:
        return PostStatus(root.status)

    @strawberry_django.field(annotate={"n_comments": COMMENT_COUNT})
    def comment_count(self, root: strawberry.Parent[models.Post]) -> int:
        return root.n_comments or 0


@strawberry.input
class CreatePostInput:
    title: str
    body: str
    author_id: strawberry.ID


@strawberry.type
class Query:
    @strawberry_django.field
    def post(self, id: strawberry.ID) -> Post | None:
        return models.Post.objects.filter(pk=id)

    @strawberry_django.field
    def posts(self, limit: int | None = 10, status: PostStatus | None = None) -> list[Post]:
        posts = models.Post.objects.all()
        if status:
            posts = posts.filter(status=status.value)
        return posts.order_by("-created_at", "-id")[:limit]


@strawberry.type
class Mutation:
    @strawberry_django.mutation
    def create_post(self, input: CreatePostInput) -> Post | None:
        return models.Post.objects.create(title=input.title, body=input.body, author_id=input.author_id)


schema = strawberry.Schema(
    Query,
    Mutation,
    extensions=[lambda: ParserCache(), lambda: ValidationCache(), lambda: DjangoOptimizerExtension()],
)

urlpatterns = [path("graphql", GraphQLView.as_view(schema=schema, graphql_ide=None))]
