"""The root field `viewer`: the user and the rights of the credential."""

import pytest

from contentapi.core.identity import ALL_SCOPES, ROLE_SCOPES, Actor, Role, Scope
from tests.conftest import GraphQL
from tests.contentapi.projection.execution import run
from tests.factories import make_actor, make_author, make_post, make_user
from users.models import User

VIEWER = "{ viewer { user { id name email } role scopes author { id name email } } }"
POSTS_OF_THE_VIEWER = "{ viewer { user { id } author { posts { id } } } }"


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


@pytest.mark.parametrize("role", Role)
def test_viewer_returns_only_scopes_that_the_role_allows(role: Role) -> None:
    actor = make_actor(role, scopes=set(ALL_SCOPES))

    viewer = run("{ viewer { role scopes author { id } } }", actor=actor).data["viewer"]

    assert viewer == {"role": role.value, "scopes": sorted(ROLE_SCOPES[role]), "author": None}


def test_viewer_is_null_for_anonymous_callers_without_a_query(gql: GraphQL) -> None:
    assert gql(VIEWER).data == {"viewer": None}
    assert run(VIEWER).statements == []


def test_viewer_is_null_for_a_token_of_a_deleted_user() -> None:
    actor = Actor(user_id=10**12, role=Role.ADMIN, scopes=ALL_SCOPES, credential="jwt")

    executed = run("{ viewer { role scopes } }", actor=actor)

    assert executed.data == {"viewer": None}


def test_viewer_returns_each_callers_own_posts() -> None:
    actors = [make_actor(Role.AUTHOR, author=make_author()) for _ in range(2)]
    posts = [make_post(author=user.author, status="draft") for user in User.objects.order_by("pk")]

    executed = [run(POSTS_OF_THE_VIEWER, actor=actor) for actor in actors]

    assert [one.data["viewer"] for one in executed] == [
        {"user": {"id": str(actor.user_id)}, "author": {"posts": [{"id": str(post.pk)}]}}
        for actor, post in zip(actors, posts, strict=True)
    ]


USERS = """
query ($orderBy: UserSort, $last: Int, $before: String) {
  users(orderBy: $orderBy, last: $last, before: $before) {
    totalCount pageInfo { hasPreviousPage startCursor } edges { node { name author { name } } }
  }
}
"""


def test_users_are_ordered_by_name_and_paged_backward(gql: GraphQL) -> None:
    admin = make_actor(Role.ADMIN)
    User.objects.update(name="Mia")
    for name in ("Zoe", "Adam"):
        make_author(name=f"{name} writes", user=make_user(Role.READER, name=name))
    order = {"field": "name", "direction": "desc"}

    last = gql(USERS, actor=admin, orderBy=order, last=2).data["users"]
    before = gql(USERS, actor=admin, orderBy=order, last=2, before=last["pageInfo"]["startCursor"]).data["users"]

    assert last["totalCount"] == 3
    assert last["pageInfo"]["hasPreviousPage"]
    assert [edge["node"] for edge in last["edges"]] == [
        {"name": "Mia", "author": None},
        {"name": "Adam", "author": {"name": "Adam writes"}},
    ]
    assert [edge["node"]["name"] for edge in before["edges"]] == ["Zoe"]


def test_user_is_created_and_deleted(gql: GraphQL) -> None:
    admin = make_actor(Role.ADMIN)
    create = (
        "mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id name email author { id } } } }"
    )
    delete = "mutation ($input: DeleteUserInput!) { deleteUser(input: $input) { deletedUserId __typename } }"

    created = gql(create, actor=admin, input={"name": " Nia ", "email": "nia@example.invalid"}).data["createUser"]
    user = User.objects.get(name="Nia")
    deleted = gql(delete, actor=admin, input={"id": str(user.pk)}).data["deleteUser"]

    assert created == {"user": {"id": str(user.pk), "name": "Nia", "email": "nia@example.invalid", "author": None}}
    assert (user.role, user.has_usable_password()) == (Role.READER, False)
    assert deleted == {"deletedUserId": str(user.pk), "__typename": "DeleteUserPayload"}
    assert not User.objects.filter(pk=user.pk).exists()
