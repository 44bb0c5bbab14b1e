"""Plain Ariadne, the obvious way: sync resolvers over the ORM."""

import json
from datetime import datetime

from ariadne import MutationType, ObjectType, QueryType, ScalarType, graphql_sync, make_executable_schema
from django.http import JsonResponse
from django.urls import path

from blog.models import Post

TYPE_DEFS = """
enum PostStatus { draft published }
scalar DateTime
type Author { id: ID! name: String! bio: String! avatarUrl: String! email: String! }
type Comment { id: ID! body: String! author: Author! }
type Post {
  id: ID! title: String! body: String! status: PostStatus! author: Author!
  comments: [Comment!]! commentCount: Int! createdAt: DateTime! updatedAt: DateTime! tags: [String!]!
}
input CreatePostInput { title: String! body: String! authorId: ID! }
type Query {
  post(id: ID!): Post
  posts(limit: Int = 10, status: PostStatus): [Post!]!
}
type Mutation { createPost(input: CreatePostInput!): Post }
"""

query, mutation, post = QueryType(), MutationType(), ObjectType("Post")
date_time = ScalarType("DateTime", serializer=datetime.isoformat)


@query.field("post")
def resolve_post(_, info, id):
    return Post.objects.select_related("author").filter(pk=id).first()


@query.field("posts")
def resolve_posts(_, info, limit=10, status=None):
    posts = Post.objects.select_related("author").prefetch_related("comments__author")
    if status:
        posts = posts.filter(status=status)
    return posts.order_by("-created_at", "-id")[:limit]


@post.field("comments")
def resolve_comments(obj, info):
    return obj.comments.all()


@post.field("commentCount")
def resolve_comment_count(obj, info):
    return obj.comments.count()  # no query where the comments are prefetched


@mutation.field("createPost")
def resolve_create_post(_, info, input):
    return Post.objects.create(title=input["title"], body=input["body"], author_id=input["author_id"])


schema = make_executable_schema(TYPE_DEFS, query, mutation, post, date_time, convert_names_case=True)


def graphql_view(request):
    success, result = graphql_sync(schema, json.loads(request.body), context_value={"request": request})
    return JsonResponse(result, status=200 if success else 400)


urlpatterns = [path("graphql", graphql_view)]
