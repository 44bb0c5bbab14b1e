"""An actor with a post of their own, for the tests of updates and deletions."""

from typing import Any

from blog.models import Post
from contentapi.core.identity import Role
from tests.factories import make_actor, make_author, make_post


def make_own_post(role: Role = Role.AUTHOR, **values: Any) -> tuple[Any, Post]:
    """Return an actor and one of their posts."""
    author = make_author()
    post = make_post(author=author, **values)
    return make_actor(role, author=author), post
