"""The stored row of a post, and callers, for the tests of creations and updates."""

from datetime import UTC, datetime
from typing import Any

from blog.models import Author, Post
from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, Actor, Role, Scope
from tests.factories import make_actor

PAST, LATER = datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
EMPTY, BAD_TAG = "This must not be empty.", "Each tag must have from 1 to 50 characters."
FIELDS = ("title", "body", "tags", "status", "publish_at", "author", "version")


def read_row(post: Post, *names: str) -> Any:
    return Post.objects.values(*(names or FIELDS)).get(pk=post.pk)


def make_caller(role: Role | None, without: set[Scope], author: Author | None = None) -> Actor:
    return make_actor(role, scopes=set(ALL_SCOPES) - without, author=author) if role else ANONYMOUS
