"""Comments in each state and the actions that change it, for the tests of comments."""

from typing import Any

from django.utils import timezone

from blog.models import Comment, Post
from blog.services import moderation
from contentapi.core.errors import ApiError
from contentapi.core.identity import OPERATOR, Actor
from tests.factories import make_comment, make_post


def make_comment_in(state: str, post: Post | None = None, **values: Any) -> Comment:
    return make_comment(post or make_post(), state=state, state_changed_at=timezone.now(), **values)


def action(name: str, comment: Comment, actor: Actor = OPERATOR) -> str:
    """Do an action to a comment. Return why it is refused, or an empty text."""
    try:
        moderation.moderate_comment(name, actor=actor, comment_id=str(comment.pk))
    except ApiError as error:
        return error.message
    return ""
