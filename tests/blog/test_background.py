"""The jobs of the blog: publish due posts, purge what was deleted long ago."""

import logging
from datetime import timedelta
from threading import Event

import pytest
from django.utils import timezone

from blog import background
from blog.models import IS_UNRENDERED, Post, PostVersion
from tests.blog.racing import locked
from tests.contentapi.worker.test_runner import list_messages
from tests.factories import make_post


def make_due_post() -> Post:
    return make_post(status="scheduled", publish_at=timezone.now() - timedelta(minutes=1))


def test_publication_stops_between_two_posts() -> None:
    for _ in range(3):
        make_due_post()
    stop = Event()
    stop.set()
    background.publish_due(stop)
    assert Post.objects.filter(status="published").count() == 1


def test_history_of_posts_deleted_31_days_ago_is_deleted(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "contentapi.worker")
    make_post().delete()
    recent = make_post(title="Recent")
    PostVersion.objects.update(pgh_created_at=timezone.now() - timedelta(days=31))
    recent.delete()

    background.purge_history(Event())

    assert PostVersion.objects.get().title == "Recent"
    assert list_messages(caplog) == ["Deleted the history of 1 posts, which were deleted more than 30 days ago."]


@pytest.mark.django_db(transaction=True)
def test_locked_post_does_not_delay_the_others() -> None:
    due, other_due, hidden, other_hidden = make_due_post(), make_due_post(), make_post(), make_post()

    with locked(due), locked(hidden):
        background.publish_due(Event())
        background.render_posts(Event())

    assert [Post.objects.get(pk=post.pk).status for post in (due, other_due)] == ["scheduled", "published"]
    assert set(Post.objects.filter(IS_UNRENDERED)) == {due, hidden}
    assert Post.objects.get(pk=other_hidden.pk).body_html == "<p>Text.</p>\n"
