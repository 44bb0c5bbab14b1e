"""Adding comments: permissions, validation, stored values."""

import pytest
from django.db import connection

from blog import services
from blog.models import Author, Comment
from contentapi.core.identity import ROLE_SCOPES, Actor, Role
from tests.blog.racing import race
from tests.factories import make_actor, make_post, make_user


@pytest.mark.django_db(transaction=True)
def test_concurrent_first_comments_create_one_profile() -> None:
    post = make_post()
    actor = make_actor(Role.READER)

    comments = race(
        lambda: connection.cursor().execute("LOCK TABLE blog_author IN SHARE MODE"),
        lambda: services.add_comment(actor=actor, post_id=str(post.pk), body="One"),
        lambda: services.add_comment(actor=actor, post_id=str(post.pk), body="Two"),
    )

    assert {comment.author_id for comment in comments} == {Author.objects.get(user=actor.user_id).pk}
    assert Comment.objects.count() == 2


@pytest.mark.parametrize("role", Role)
def test_comment_creates_the_profile_of_its_author(role: Role) -> None:
    post = make_post()
    user = make_user(role)
    actor = Actor(user_id=user.pk, role=role, scopes=ROLE_SCOPES[role])

    comment = services.add_comment(actor=actor, post_id=str(post.pk), body=" Well\r\nsaid. ")

    profile = Author.objects.get(user=user)
    assert profile.name == user.name
    assert list(Comment.objects.values("id", "post", "author", "body")) == [
        {"id": comment.pk, "post": post.pk, "author": profile.pk, "body": " Well\r\nsaid. "}
    ]
