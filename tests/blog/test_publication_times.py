"""The time at which a post first became public: editors may change it."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from blog import services
from contentapi.core.errors import Forbidden, Invalid
from contentapi.core.identity import Role
from tests.factories import make_actor, make_author, make_post

pytestmark = pytest.mark.django_db
EARLIER = datetime(2020, 1, 1, tzinfo=UTC)


def test_editor_changes_the_time_of_a_published_post() -> None:
    post = make_post(published_at=timezone.now())

    edited = services.edit_post(actor=make_actor(Role.EDITOR), post_id=str(post.pk), changes={"published_at": EARLIER})

    post.refresh_from_db()
    assert post.published_at == edited.published_at == EARLIER
    assert post.version == 2


def test_author_may_not_change_the_time_of_an_own_post() -> None:
    author = make_author()
    post, actor = make_post(author=author, published_at=timezone.now()), make_actor(Role.AUTHOR, author=author)

    with pytest.raises(Forbidden):
        services.edit_post(actor=actor, post_id=str(post.pk), changes={"published_at": EARLIER})


@pytest.mark.parametrize("days", [None, 1], ids=["no time", "future"])
def test_published_post_needs_a_time_in_the_past(days: int | None) -> None:
    post = make_post(published_at=EARLIER)
    value = None if days is None else timezone.now() + timedelta(days=days)

    with pytest.raises(Invalid) as raised:
        services.edit_post(actor=make_actor(Role.EDITOR), post_id=str(post.pk), changes={"published_at": value})

    assert list(raised.value.fields) == ["publishedAt"]
    post.refresh_from_db()
    assert post.published_at == EARLIER
