"""graphene-django with graphene-django-optimizer."""

import graphene
import graphene_django_optimizer as gql_optimizer
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from graphene_django import DjangoObjectType
from graphene_django.views import GraphQLView

from blog import models


class PostStatus(graphene.Enum):
    draft = "draft"
    published = "published"


class AuthorType(DjangoObjectType):
    class Meta:
        model = models.Author
        name = "Author"
        fields = ("id", "name", "bio", "avatar_url", "email")


class CommentType(DjangoObjectType):
    class Meta:
        model = models.Comment
        name = "Comment"
        fields = ("id", "body", "author")


class PostType(DjangoObjectType):
    status = gql_optimizer.field(PostStatus(required=True), only=("status",))
    comment_count = gql_optimizer.field(graphene.Int(required=True), only=("id",))

    class Meta:
        model = models.Post
        name = "Post"
        fields = ("id", "title", "body", "author", "comments", "created_at", "updated_at", "tags")

    def resolve_status(self, info):
        return self.status

    def resolve_comment_count(self, info):
        return self.comments.count()  # no query where the comments are prefetched


class CreatePostInput(graphene.InputObjectType):
    title = graphene.String(required=True)
    body = graphene.String(required=True)
    author_id = graphene.ID(required=True)


class Query(graphene.ObjectType):
    post = graphene.Field(PostType, id=graphene.ID(required=True))
    posts = graphene.List(
        graphene.NonNull(PostType),
        limit=graphene.Int(default_value=10),
        status=PostStatus(),
        required=True,
    )

    def resolve_post(self, info, id):
        return gql_optimizer.query(models.Post.objects.filter(pk=id), info).first()

    def resolve_posts(self, info, limit=10, status=None):
        posts = models.Post.objects.all()
        if status:
            posts = posts.filter(status=getattr(status, "value", status))
        return gql_optimizer.query(posts.order_by("-created_at", "-id"), info)[:limit]


class CreatePost(graphene.Mutation):
    class Arguments:
        input = CreatePostInput(required=True)

    Output = PostType

    def mutate(self, info, input):
        return models.Post.objects.create(title=input.title, body=input.body, author_id=input.author_id)


class Mutation(graphene.ObjectType):
    create_post = CreatePost.Field()


schema = graphene.Schema(query=Query, mutation=Mutation)

urlpatterns = [path("graphql", csrf_exempt(GraphQLView.as_view(schema=schema, graphiql=False)))]
