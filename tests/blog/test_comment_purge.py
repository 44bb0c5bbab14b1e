"""The end of deleted comments: the purge, and what can be restored."""

from datetime import timedelta

import pytest
from django.utils import timezone

from blog import services
from blog.models import Comment, DeletedComment
from blog.services import moderation
from contentapi.core.errors import Forbidden
from contentapi.core.identity import OPERATOR, Role
from tests.blog.comments_in_states import action, make_comment_in
from tests.factories import make_actor, make_comment, make_post


def test_comment_deleted_more_than_30_days_ago_cannot_be_restored() -> None:
    comment = make_comment_in("deleted")
    Comment.objects.update(state_changed_at=timezone.now() - timedelta(days=30, seconds=1))

    assert action("restore", comment) == "It was deleted more than 30 days ago."


def test_purge_deletes_the_comments_that_were_deleted_long_ago_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moderation, "COMMENTS_PER_TRANSACTION", 2)  # several batches
    old = timezone.now() - timedelta(days=31)
    for _ in range(5):
        make_comment(make_post(), state="deleted", state_changed_at=old)
    kept = [make_comment_in("deleted"), make_comment(make_post(), state="hidden", state_changed_at=old)]
    kept.append(make_comment(make_post(), state_changed_at=old, created_at=old))

    assert moderation.purge_comments(actor=OPERATOR) == 5
    assert moderation.purge_comments(actor=OPERATOR) == 0

    assert set(Comment.objects.all()) == set(kept)
    assert not DeletedComment.objects.exists(), "the words of a purged comment are kept nowhere"


def test_purge_needs_permission() -> None:
    with pytest.raises(Forbidden):
        moderation.purge_comments(actor=make_actor(Role.AUTHOR))


def test_deletion_of_a_post_after_a_purge_keeps_its_comments_for_a_restore() -> None:
    post = make_post()
    make_comment(post)
    moderation.purge_comments(actor=OPERATOR)

    services.delete_post(actor=OPERATOR, post_id=str(post.pk))

    assert DeletedComment.objects.count() == 1
