"""The REST resources of users, as specified."""

from dataclasses import replace
from typing import Any

import pytest

from contentapi.core.identity import Role, Scope
from tests.factories import get_user, make_actor, make_user
from tests.resources import send_request
from users.models import User

ADA = {"name": "Ada", "email": "ada@example.invalid"}


@pytest.mark.parametrize("text", ["0", "9" * 30])
def test_missing_user_is_404(text: str) -> None:
    admin = make_actor(Role.ADMIN)

    missing = (404, "NOT_FOUND", "There is no user with this id.")
    assert send_request("GET", f"/users/{text}", actor=admin).error == missing
    assert send_request("DELETE", f"/users/{text}", actor=admin).error == missing


@pytest.mark.parametrize("user_id", ["own", "x", "%FF"])
def test_user_needs_a_credential_and_the_scopes_whatever_the_id(user_id: str) -> None:
    admin, actions = make_actor(Role.ADMIN), (("GET", "read"), ("DELETE", "delete"))
    path = f"/users/{admin.user_id if user_id == 'own' else user_id}"

    def send(scopes: set[Scope] | None) -> list[tuple[int, str, str]]:
        actor = replace(admin, scopes=scopes) if scopes else None
        return [send_request(method, path, actor=actor).error for method, _ in actions]

    anonymous, without_read, without_write = send(None), send({Scope.USERS_WRITE}), send({Scope.ORDERS_READ})
    assert anonymous == [
        (401, "UNAUTHENTICATED", f"A credential is needed to {action} users.") for _, action in actions
    ]
    assert without_read == [(403, "FORBIDDEN", "You may not read users.")] * 2
    assert without_write == [(403, "FORBIDDEN", f"You may not {action} users.") for _, action in actions]
    assert get_user(admin)


def test_created_user_is_at_its_location() -> None:
    admin = make_actor(Role.ADMIN)

    response = send_request("POST", "/users", ADA, actor=admin)

    user = User.objects.get(email="ada@example.invalid")
    assert (response.status, response.headers["Location"]) == (201, f"/users/{user.pk}")
    assert list(response.body.items()) == [("id", user.pk), *ADA.items()]
    assert response.content == send_request("GET", f"/users/{user.pk}", actor=admin).content
    assert (user.role, user.has_usable_password()) == ("reader", False)


@pytest.mark.parametrize(
    "body", [{}, {"name": "Ada"}, {"email": "ada@example.invalid"}, {**ADA, "name": ""}, {**ADA, "email": ""},
             {**ADA, "name": None}, {**ADA, "email": None},
             {**ADA, "name": "  "}, {**ADA, "email": "no email"}, {**ADA, "name": "x" * 151}]
)  # fmt: skip
def test_missing_empty_or_invalid_field_is_422(body: dict[str, Any]) -> None:
    assert send_request("POST", "/users", body, actor=make_actor(Role.ADMIN)).error[:2] == (422, "INVALID")


@pytest.mark.parametrize(
    "body", [{**ADA, "name": 1}, {**ADA, "email": "a\0@example.invalid"}, {**ADA, "role": "admin"}, [], b"{"]
)
def test_body_of_another_shape_is_400(body: Any) -> None:
    assert send_request("POST", "/users", body, actor=make_actor(Role.ADMIN)).error[:2] == (400, "BAD_REQUEST")


def test_deleted_user_is_404() -> None:
    admin, user = make_actor(Role.ADMIN), make_user()

    first, second = (send_request("DELETE", f"/users/{user.pk}", actor=admin) for _ in range(2))

    assert (first.status, first.content, second.status) == (204, b"", 404)
    assert not User.objects.filter(pk=user.pk).exists()
