"""Creation of posts. test_transitions.py tests changes of the status."""

from typing import Any

import pytest
from django.contrib.auth import get_user_model

from blog import services
from blog.models import Author, Post
from contentapi.core.errors import ApiError, Forbidden, Invalid, Unauthenticated
from contentapi.core.identity import ALL_SCOPES, OPERATOR, Actor, Role, Scope
from tests.blog.post_rows import BAD_TAG, EMPTY, LATER, PAST, make_caller, read_row
from tests.factories import make_actor, make_author, make_post, make_user

LONG_BODY = "At most 200000 characters are allowed (got 200001)."


def test_new_post_is_a_draft_of_the_caller_with_trimmed_values() -> None:
    author = make_author()
    actor = make_actor(Role.AUTHOR, author=author)

    post = services.create_post(actor=actor, title=" \tSoup\n", body="  Boil.\r\n", tags=[" hot ", "a b"])

    text = {"title": "Soup", "body": "  Boil.\r\n", "tags": ["hot", "a b"]}
    assert read_row(post) == {**text, "status": "draft", "publish_at": None, "author": author.pk, "version": 1}


INVALID: list[tuple[dict[str, Any], dict[str, list[str]]]] = [
    ({"title": " \n\u2003"}, {"title": [EMPTY]}),
    ({"title": "x" * 201}, {"title": ["At most 200 characters are allowed (got 201)."]}),
    ({"body": "x" * 200_001}, {"body": [LONG_BODY]}),
    ({"tags": list("abcdefghijklmnopqrstu")}, {"tags": ["At most 20 tags are allowed (got 21)."]}),
    ({"tags": ["x" * 51]}, {"tags": [BAD_TAG]}),
    ({"tags": ["a", " "]}, {"tags": [BAD_TAG]}),
    ({"tags": ["a", " a"]}, {"tags": ["Tags must be unique."]}),
    ({"title": "", "body": "x" * 200_001}, {"title": [EMPTY], "body": [LONG_BODY]}),
    ({"status": "scheduled"}, {"publishAt": ["A scheduled post needs a time of publication."]}),
    (
        {"status": "scheduled", "publish_at": PAST},
        {"publishAt": ["The time of publication must be in the future."]},
    ),
    ({"status": "draft", "publish_at": LATER}, {"publishAt": ["Only a scheduled post has a time of publication."]}),
    ({"author_id": "12345"}, {"authorId": ["There is no author with this id."]}),
    ({"author_id": "no id"}, {"authorId": ["There is no author with this id."]}),
]


def test_invalid_post_is_rejected_and_nothing_is_stored() -> None:
    actor = make_actor(Role.EDITOR)

    for given, fields in INVALID:
        with pytest.raises(Invalid) as refusal:
            services.create_post(**{"actor": actor, "title": "Soup", "body": "Boil.", **given})

        assert refusal.value.fields == fields
        assert not Post.objects.exists()
        assert not Author.objects.exists()


def test_post_at_the_limits_is_stored() -> None:
    actor = make_actor(Role.AUTHOR)
    tags = ["x" * 50, *(str(number) for number in range(19))]

    post = services.create_post(actor=actor, title=" " + "é" * 200 + " ", body="é" * 200_000, tags=tags)

    assert read_row(post, "title", "body", "tags") == {"title": "é" * 200, "body": "é" * 200_000, "tags": tags}


def test_first_post_creates_the_profile_that_the_second_uses() -> None:
    user = make_user(Role.AUTHOR, name="Ines", email="ines@example.invalid")
    actor = Actor(user_id=user.pk, role=Role.AUTHOR, scopes=ALL_SCOPES)

    first = services.create_post(actor=actor, title="One", body="")
    second = services.create_post(actor=actor, title="Two", body="")

    profile = {"id": first.author_id, "user": user.pk, "name": "Ines", "email": "ines@example.invalid"}
    assert list(Author.objects.values(*profile)) == [profile]
    assert second.author_id == first.author_id


def test_profile_created_after_the_credential_is_used() -> None:
    user = make_user(Role.AUTHOR)
    actor = Actor(user_id=user.pk, role=Role.AUTHOR, scopes=ALL_SCOPES)
    post = make_post(author=make_author(user=user), status="draft")

    services.edit_post(actor=actor, post_id=str(post.pk), changes={"title": "New"})
    written = services.create_post(actor=actor, title="Soup", body="")

    assert written.author_id == post.author_id


@pytest.mark.parametrize("role", [Role.AUTHOR, Role.ADMIN])
def test_credential_of_a_deleted_user_cannot_write(role: Role) -> None:
    post = make_post()
    actor = make_actor(role)
    get_user_model().objects.get().delete()

    with pytest.raises(Unauthenticated) as refusal:
        services.create_post(actor=actor, title="Soup", body="")
    with pytest.raises(Unauthenticated):
        services.add_comment(actor=actor, post_id=str(post.pk), body="Well said.")

    assert refusal.value.message == "The user of this credential does not exist any more."
    assert (list(Post.objects.all()), list(Author.objects.all())) == ([post], [post.author])


def test_operator_must_set_the_author_of_a_new_post() -> None:
    with pytest.raises(Invalid) as refusal:
        services.create_post(actor=OPERATOR, title="Soup", body="")

    assert refusal.value.fields == {"authorId": ["Name the author: this credential belongs to no user."]}


@pytest.mark.parametrize(
    ("role", "without", "refused", "message"),
    [
        (None, set(), Unauthenticated, "A credential is needed to write posts."),
        (Role.READER, set(), Forbidden, "You may not write posts."),
        (Role.ADMIN, {Scope.POSTS_WRITE}, Forbidden, "You may not write posts."),
        (Role.AUTHOR, set(), Forbidden, "You may not write posts of this author."),
        (Role.EDITOR, {Scope.POSTS_PUBLISH}, Forbidden, "You may not make posts published."),
    ],
)
def test_missing_permission_is_reported_before_invalid_values(
    role: Role | None, without: set[Scope], refused: type[ApiError], message: str
) -> None:
    other = make_author()
    actor = make_caller(role, without, make_author())

    with pytest.raises(refused) as refusal:
        services.create_post(
            actor=actor, title="", body="", author_id=str(other.pk), status="published", publish_at=LATER
        )

    assert refusal.value.message == message
    assert not Post.objects.exists()
