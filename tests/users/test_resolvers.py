"""The root field `viewer`: the user and the rights of the credential."""

import pytest

from contentapi.core.identity import ALL_SCOPES, ROLE_SCOPES, Actor, Role, Scope
from tests.conftest import GraphQL
from tests.contentapi.projection.execution import run
from tests.factories import make_actor, make_author, make_post
from users.models import User

VIEWER = "{ viewer { user { id name email } role scopes author { id name email } } }"


@pytest.mark.django_db
def test_viewer_returns_the_user_role_scopes_and_author_of_the_credential(gql: GraphQL) -> None:
    author = make_author(name="Ines", email="ines@example.invalid")
    actor = make_actor(Role.AUTHOR, scopes={Scope.POSTS_WRITE, Scope.AUTHORS_READ}, author=author)
    user = User.objects.get()

    response = gql(VIEWER, actor=actor)

    assert response.data == {
        "viewer": {
            "user": {"id": str(user.pk), "name": user.name, "email": user.email},
            "role": "author",
            "scopes": ["authors:read", "posts:write"],
            "author": {"id": str(author.pk), "name": "Ines", "email": "ines@example.invalid"},
        }
    }


@pytest.mark.django_db
@pytest.mark.parametrize("role", Role)
def test_viewer_returns_only_scopes_that_the_role_allows(role: Role) -> None:
    actor = make_actor(role, scopes=set(ALL_SCOPES))

    viewer = run("{ viewer { role scopes author { id } } }", actor=actor).data["viewer"]

    assert viewer == {"role": role.value, "scopes": sorted(ROLE_SCOPES[role]), "author": None}


@pytest.mark.django_db
def test_viewer_needs_no_scope() -> None:
    actor = make_actor(Role.READER, scopes=set(), author=make_author(email="ines@example.invalid"))

    viewer = run("{ viewer { user { id } scopes author { email } } }", actor=actor).data["viewer"]

    assert viewer == {"user": {"id": str(actor.user_id)}, "scopes": [], "author": {"email": None}}


@pytest.mark.django_db
def test_viewer_is_null_for_anonymous_callers_without_a_query(gql: GraphQL) -> None:
    assert gql(VIEWER).data == {"viewer": None}
    assert run(VIEWER).statements == []


@pytest.mark.django_db
def test_viewer_is_null_for_a_token_of_a_deleted_user() -> None:
    actor = Actor(user_id=10**12, role=Role.ADMIN, scopes=ALL_SCOPES, credential="jwt")

    executed = run("{ viewer { role scopes } }", actor=actor)

    assert executed.data == {"viewer": None}


@pytest.mark.django_db
def test_viewer_returns_each_callers_own_posts_in_one_statement() -> None:
    actors = [make_actor(Role.AUTHOR, author=make_author()) for _ in range(2)]
    posts = [make_post(author=user.author, status="draft") for user in User.objects.order_by("pk")]

    executed = [run("{ viewer { user { id } author { posts { id } } } }", actor=actor) for actor in actors]

    assert [len(one.statements) for one in executed] == [1, 1]
    assert [one.data["viewer"] for one in executed] == [
        {"user": {"id": str(actor.user_id)}, "author": {"posts": [{"id": str(post.pk)}]}}
        for actor, post in zip(actors, posts, strict=True)
    ]
