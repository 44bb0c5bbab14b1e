"""Publication of scheduled posts that are due."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from blog import services
from blog.models import Post, PostStatus
from contentapi.core.errors import Forbidden, Unauthenticated
from contentapi.core.identity import ANONYMOUS, OPERATOR, Role
from tests.blog.racing import race
from tests.factories import make_actor, make_post


def make_scheduled_post(minutes: int) -> Post:
    """Create a post that is due in this number of minutes."""
    return make_post(status=PostStatus.SCHEDULED, publish_at=timezone.now() + timedelta(minutes=minutes))


def publish_due_posts() -> list[int]:
    return [due.post.pk for due in services.publish_due(actor=OPERATOR)]


def test_due_posts_are_published_in_order_of_their_time() -> None:
    late, later, not_yet, draft = (
        make_scheduled_post(-5),
        make_scheduled_post(-60),
        make_scheduled_post(5),
        make_post(status=PostStatus.DRAFT),
    )
    untouched = list(Post.objects.filter(pk__in=[not_yet.pk, draft.pk]).order_by("pk").values())

    published = publish_due_posts()

    assert published == [later.pk, late.pk]
    for post in (late, later):
        created_at = post.created_at
        post.refresh_from_db()
        assert (post.status, post.publish_at, post.version, post.created_at) == ("published", None, 2, created_at)
    assert list(Post.objects.filter(pk__in=[not_yet.pk, draft.pk]).order_by("pk").values()) == untouched
    assert publish_due_posts() == []


@pytest.mark.django_db(transaction=True)
def test_post_unscheduled_during_the_run_stays_a_draft() -> None:
    post = make_scheduled_post(-5)

    def unschedule() -> None:
        Post.objects.select_for_update().get(pk=post.pk)
        Post.objects.update(status=PostStatus.DRAFT, publish_at=None)

    assert race(unschedule, publish_due_posts) == [[]]
    post.refresh_from_db()
    assert (post.status, post.version, post.changed_with) == ("draft", 2, "database")


@pytest.mark.django_db(transaction=True)
def test_concurrent_runs_publish_each_post_once() -> None:
    first, second = make_scheduled_post(-10), make_scheduled_post(-5)

    outcomes = race(  # the locks of rows wait for that of the table; a locked row would be skipped
        lambda: connection.cursor().execute("LOCK TABLE blog_post IN EXCLUSIVE MODE"),
        publish_due_posts,
        publish_due_posts,
    )

    assert sorted([*outcomes[0], *outcomes[1]]) == sorted([first.pk, second.pk])
    assert set(Post.objects.values_list("status", "version")) == {("published", 2)}


def test_actor_who_may_not_publish_all_posts_is_refused() -> None:
    make_scheduled_post(-5)

    for actor, refusal in [(make_actor(Role.AUTHOR), Forbidden), (ANONYMOUS, Unauthenticated)]:
        with pytest.raises(refusal):
            list(services.publish_due(actor=actor))

    assert Post.objects.get().status == "scheduled"
