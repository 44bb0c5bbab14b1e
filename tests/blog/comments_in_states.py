"""Comments in each state and the actions that change it, for the tests of comments."""

from typing import Any

from django.utils import timezone

from blog.models import Comment, Post
from blog.services import moderation
from blog.services.moderation import Moderation
from contentapi.core.identity import OPERATOR, Actor
from tests.factories import make_comment, make_post


def make_comment_in(state: str, post: Post | None = None, **values: Any) -> Comment:
    return make_comment(post or make_post(), state=state, state_changed_at=timezone.now(), **values)


def action(name: str, *comments: Comment, actor: Actor = OPERATOR) -> Moderation:
    return moderation.moderate_comments(name, actor=actor, comment_ids=[str(comment.pk) for comment in comments])
