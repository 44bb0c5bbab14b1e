"""Adding comments: permissions, validation, stored values."""

import pytest
from django.db import connection

from blog import services
from blog.models import Author, Comment, PostStatus
from contentapi.core.errors import ApiError, Forbidden, Invalid, NotFound, Unauthenticated
from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, ROLE_SCOPES, Actor, Role, Scope
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


@pytest.mark.django_db
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


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("role", "without", "status", "refused", "message"),
    [
        (None, set(), PostStatus.PUBLISHED, Unauthenticated, "A credential is needed to comment."),
        (None, set(), PostStatus.DRAFT, Unauthenticated, "A credential is needed to comment."),
        (Role.READER, {Scope.COMMENTS_WRITE}, PostStatus.PUBLISHED, Forbidden, "You may not comment."),
        (Role.READER, set(), PostStatus.DRAFT, NotFound, "There is no post with this id."),
        (Role.EDITOR, {Scope.POSTS_READ}, PostStatus.DRAFT, NotFound, "There is no post with this id."),
        (Role.READER, set(), PostStatus.PUBLISHED, Invalid, "body: This must not be empty."),
    ],
)
def test_refused_comment_stores_nothing(
    role: Role | None, without: set[Scope], status: str, refused: type[ApiError], message: str
) -> None:
    post = make_post(status=status)
    actor = make_actor(role, scopes=set(ALL_SCOPES) - without) if role else ANONYMOUS

    with pytest.raises(refused) as refusal:
        services.add_comment(actor=actor, post_id=str(post.pk), body=" \n")

    assert refusal.value.message == message
    assert list(Author.objects.all()) == [post.author]
    assert not Comment.objects.exists()
