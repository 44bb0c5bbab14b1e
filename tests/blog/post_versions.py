"""The versions of a post, for the tests of the history."""

from typing import Any

from blog import services
from blog.history import versions
from blog.history.versions import Version
from blog.models import Post
from contentapi.core.identity import OPERATOR, Actor
from users.models import User


def list_versions(post: Post, actor: Actor = OPERATOR) -> list[Version]:
    return versions.list_versions(actor=actor, post_id=str(post.pk)).versions


def get_newest(post: Post) -> Version:
    return list_versions(post)[0]


def get_name(actor: Actor) -> str:
    return User.objects.get(pk=actor.user_id or 0).name


def edit(post: Post, actor: Actor = OPERATOR, **changes: Any) -> Post:
    return services.edit_post(actor=actor, post_id=str(post.pk), changes=changes)
