"""Updates of posts: changed fields, invalid values, permissions and concurrent updates."""

from typing import Any

import pytest
from django.utils import timezone

from blog import services
from blog.models import Post
from contentapi.core.errors import Forbidden
from contentapi.core.identity import OPERATOR, Role
from tests.blog.post_rows import PAST, read_row
from tests.blog.racing import race
from tests.factories import make_actor, make_author, make_post


@pytest.mark.parametrize("changes", [{"title": " New "}, {"body": ""}, {"tags": []}, {"title": "New", "tags": ["b"]}])
def test_update_changes_the_given_fields_and_nothing_else(changes: dict[str, Any]) -> None:
    author = make_author()
    post = make_post(author=author, title="Old", body="Old.", tags=["a"], updated_at=PAST, created_at=PAST)
    before = read_row(post)

    returned = services.edit_post(actor=make_actor(Role.AUTHOR, author=author), post_id=str(post.pk), changes=changes)

    trimmed = {name: value.strip() if name == "title" else value for name, value in changes.items()}
    assert read_row(post) == {**before, **trimmed, "version": 2}
    assert read_row(post, "updated_at")["updated_at"] == returned.updated_at > PAST


@pytest.mark.parametrize("changes", [{}, {"title": " Old\n"}, {"title": "Old", "body": "Old.", "tags": [" a"]}])
def test_update_without_effect_keeps_version_and_time(changes: dict[str, Any]) -> None:
    post = make_post(title="Old", body="Old.", tags=["a"], updated_at=PAST)
    before = Post.objects.values().get(pk=post.pk)

    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes=changes)

    assert Post.objects.values().get(pk=post.pk) == before


def test_author_may_not_change_the_time_at_which_an_own_post_became_public() -> None:
    author = make_author()
    post, actor = make_post(author=author, published_at=timezone.now()), make_actor(Role.AUTHOR, author=author)

    with pytest.raises(Forbidden):
        services.edit_post(actor=actor, post_id=str(post.pk), changes={"published_at": PAST})


@pytest.mark.django_db(transaction=True)
def test_concurrent_updates_both_take_effect() -> None:
    post = make_post(title="Old", body="Old.")

    race(
        lambda: Post.objects.select_for_update().get(pk=post.pk),
        lambda: services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"title": "New"}),
        lambda: services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"body": "New."}),
    )

    assert read_row(post, "title", "body", "version") == {"title": "New", "body": "New.", "version": 3}
