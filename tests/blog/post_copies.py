"""What an operator does to the working copies of posts, for tests."""

from typing import Any

from blog import services
from blog.models import Post, WorkingCopy
from contentapi.core.identity import OPERATOR, Actor


def save(post: Post, actor: Actor = OPERATOR, **values: Any) -> WorkingCopy:
    return services.save_working_copy(actor=actor, post_id=str(post.pk), **values)


def publish(post: Post, actor: Actor = OPERATOR, **values: Any) -> Post:
    return services.publish_working_copy(actor=actor, post_id=str(post.pk), **values)


def edit(post: Post, **changes: Any) -> Post:
    return services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes=changes)
