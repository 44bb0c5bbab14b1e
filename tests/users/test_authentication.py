"""Which credential makes which actor, and at what cost."""

import logging
import time
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from contentapi.auth import jwt
from contentapi.auth.signing_keys import get_key_ring
from contentapi.core.errors import Malformed, Unauthenticated
from contentapi.core.identity import ANONYMOUS, OPERATOR, ROLE_SCOPES, Actor, Role, Scope
from tests.factories import make_user
from users import services, tokens
from users.authentication import authenticate, build_session_actor
from users.models import User


def test_no_credential_is_anonymous() -> None:
    actor = authenticate({"Cookie": "sessionid=x", "Accept": "*/*"})

    assert actor is ANONYMOUS


@pytest.mark.django_db
@pytest.mark.parametrize("role", Role)
def test_a_token_authenticates_its_user_without_a_query(
    django_assert_num_queries: DjangoAssertNumQueries, role: Role
) -> None:
    user = make_user(role)
    token = tokens.issue_token(user=user)

    with django_assert_num_queries(0):
        actor = authenticate({"Authorization": f"Bearer {token}"})

    assert actor == Actor(
        user_id=user.pk,
        role=role,
        scopes=ROLE_SCOPES[role],
        credential="jwt",
        credential_id=f"user:{user.pk}",
    )


@pytest.mark.django_db
def test_a_token_brings_its_own_scopes() -> None:
    token = tokens.issue_token(user=make_user(Role.AUTHOR), scopes=[Scope.POSTS_READ])

    actor = authenticate({"Authorization": f"Bearer {token}"})

    assert actor.scopes == {Scope.POSTS_READ}


@pytest.mark.django_db
def test_a_scope_that_the_role_does_not_allow_is_of_no_use() -> None:
    token = tokens.issue_token(user=make_user(Role.READER), scopes=[Scope.POSTS_WRITE, Scope.COMMENTS_WRITE])

    actor = authenticate({"Authorization": f"Bearer {token}"})

    assert (actor.has(Scope.POSTS_WRITE), actor.has(Scope.COMMENTS_WRITE)) == (False, True)


@pytest.mark.django_db
def test_a_token_keeps_its_role_until_it_expires() -> None:
    token = tokens.issue_token(user=make_user(Role.EDITOR))
    User.objects.update(role=Role.READER)

    assert authenticate({"Authorization": f"Bearer {token}"}).role == Role.EDITOR


def token_that_says(**claims: Any) -> str:
    now = int(time.time())
    usual = {"iss": "http://localhost", "aud": tokens.AUDIENCE, "sub": "7", "role": "author", "jti": "1"}
    said = {**usual, "iat": now, "exp": now + 600, **claims}
    return jwt.encode({name: value for name, value in said.items() if value is not None}, get_key_ring().signing_key())


def test_scopes_that_are_not_known_are_passed_over() -> None:
    token = token_that_says(scope="openid posts:read  POSTS:WRITE posts:fly posts:read")

    assert authenticate({"Authorization": f"Bearer {token}"}).scopes == {Scope.POSTS_READ}


def test_a_token_without_scopes_has_none() -> None:
    assert authenticate({"Authorization": f"Bearer {token_that_says()}"}).scopes == frozenset()


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR", "Bearer  "])
def test_the_scheme_may_be_written_in_any_case(scheme: str) -> None:
    assert authenticate({"Authorization": f"{scheme} {token_that_says()}"}).user_id == 7


def require_bearer_refused(value: str) -> None:
    with pytest.raises(Unauthenticated) as raised:
        authenticate({"Authorization": value})

    assert raised.value.message == "This bearer token is not valid."
    assert raised.value.headers["WWW-Authenticate"] == (
        'ApiKey realm="contentapi", Bearer realm="contentapi", error="invalid_token"'
    )


@pytest.mark.parametrize(
    "claims",
    [
        *({"sub": sub} for sub in ("0", "07", "-7", "+7", "7.0", "seven", " 7", "\u0667", "9" * 30, str(2**63))),
        *({"role": role} for role in (None, "", "owner", "ADMIN", "admin ", 7, True, ["admin"], {"admin": 1})),
        *({"scope": scope} for scope in (7, True, ["posts:read"], {"posts:read": 1})),
        {"aud": "other"},
        {"iss": "https://evil.invalid"},
        {"exp": 1},
    ],
    ids=repr,
)
def test_a_token_that_says_what_none_of_ours_does_is_refused(claims: dict[str, Any]) -> None:
    require_bearer_refused(f"Bearer {token_that_says(**claims)}")


@pytest.mark.parametrize(
    "value", ["Bearer", "Bearer ", "Bearer a.b.c", "bearer é", "Bearer \0", "Bearer x y", "Bearer =", "Bearer a,b"]
)
def test_what_is_no_token_is_refused(value: str) -> None:
    require_bearer_refused(value)


@pytest.mark.parametrize(
    "form",
    ["Bearer {0} {0}", "Bearer {0}, Bearer {0}", "Bearer {0}\n", 'Bearer "{0}"', "Bearer\t{0}", "Bearer{0}", "{0}"],
)
def test_one_good_token_must_be_all_there_is(form: str) -> None:
    with pytest.raises(Unauthenticated):
        authenticate({"Authorization": form.format(token_that_says())})


@pytest.mark.parametrize("value", ["", " ", "Basic YTpi", "Negotiate", "Token x", "ApiKey x", "x" * 100_000])
def test_another_scheme_is_refused(value: str) -> None:
    with pytest.raises(Unauthenticated) as raised:
        authenticate({"Authorization": value})

    assert raised.value.message == "Authorization must be Bearer and a token."
    assert raised.value.headers["WWW-Authenticate"] == 'ApiKey realm="contentapi", Bearer realm="contentapi"'


def test_a_bad_token_is_not_logged_but_why_it_is_bad(caplog: pytest.LogCaptureFixture) -> None:
    good = token_that_says()
    bad = [f"{good[:-8]}AAAAAAAA", token_that_says(exp=1), token_that_says(role="hush"), "hush", "hush.hush.hush"]

    with caplog.at_level(logging.DEBUG):
        for token in bad:
            require_bearer_refused(f"Bearer {token}")

    assert [record.message for record in caplog.records if record.name == "users.authentication"] == [
        "A bearer token is refused: signature is wrong.",
        "A bearer token is refused: expired.",
        "A bearer token is refused: role is none.",
        "A bearer token is refused: not three parts.",
        "A bearer token is refused: unreadable: UnicodeDecodeError.",
    ]
    assert not any(part in caplog.text for token in bad for part in token.split("."))


@pytest.mark.django_db
@pytest.mark.parametrize("key", ["good", "bad", ""])
def test_two_credentials_are_malformed(key: str) -> None:
    presented = services.create_api_key(actor=OPERATOR, email=make_user().email, name="test") if key == "good" else key

    with pytest.raises(Malformed):
        authenticate({"X-API-Key": presented, "Authorization": ""})
    with pytest.raises(Malformed):
        authenticate({"X-API-Key": presented, "Authorization": f"Bearer {token_that_says()}"})


@pytest.mark.django_db
@pytest.mark.parametrize("role", [Role.EDITOR, Role.ADMIN])
def test_a_session_authenticates_its_user_with_all_scopes_of_the_role(role: Role) -> None:
    user = make_user(role)

    actor = build_session_actor(user)

    assert actor == Actor(user_id=user.pk, role=role, scopes=ROLE_SCOPES[role], credential="session")
