"""The time at which a post first became public: editors may change it."""

from datetime import UTC, datetime

import pytest
from django.utils import timezone

from blog import services
from contentapi.core.errors import Forbidden
from contentapi.core.identity import Role
from tests.factories import make_actor, make_author, make_post

pytestmark = pytest.mark.django_db
EARLIER = datetime(2020, 1, 1, tzinfo=UTC)


def test_author_may_not_change_the_time_of_an_own_post() -> None:
    author = make_author()
    post, actor = make_post(author=author, published_at=timezone.now()), make_actor(Role.AUTHOR, author=author)

    with pytest.raises(Forbidden):
        services.edit_post(actor=actor, post_id=str(post.pk), changes={"published_at": EARLIER})
