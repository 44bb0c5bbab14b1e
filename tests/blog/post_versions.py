"""The versions of a post, for the tests of the history."""

from typing import Any

from blog import services
from blog.history import copies, versions
from blog.history.versions import Version
from blog.models import Post, WorkingCopy
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


def restore_text(post: Post, number: int, *, copy_version: int = 0, actor: Actor = OPERATOR) -> Post | WorkingCopy:
    """Restore a version of a post for a person who has seen its present version."""
    seen = {"post_version": Post.objects.get(pk=post.pk).version, "copy_version": copy_version}
    return copies.restore_text(actor=actor, post_id=str(post.pk), number=number, **seen)


def restore_draft(post: Post, number: int, *, actor: Actor = OPERATOR) -> Post:
    """Restore a version of a post that is not public, and has no working copy."""
    restored = restore_text(post, number, actor=actor)
    assert isinstance(restored, Post)
    return restored
