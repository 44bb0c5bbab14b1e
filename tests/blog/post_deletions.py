"""Deletions of posts and what restores them, for the tests of deleted posts."""

from typing import Any

import pytest

from blog import services
from blog.history import trash
from blog.models import Post
from contentapi.core.identity import OPERATOR, Actor

# Comments are restored by the time of the transaction that deleted them: here, each deletion has a transaction.
TRANSACTIONS = pytest.mark.django_db(transaction=True)


def delete(post: Post, actor: Actor = OPERATOR) -> None:
    services.delete_post(actor=actor, post_id=str(post.pk))


def restore(post: Post, actor: Actor = OPERATOR) -> Post:
    return trash.restore_deleted_post(actor=actor, post_id=str(post.pk))


def list_deleted(actor: Actor = OPERATOR) -> list[dict[str, Any]]:
    return trash.list_deleted_posts(actor=actor)[0]
