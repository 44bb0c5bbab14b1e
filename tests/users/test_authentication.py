"""The actor of a request with a token or a session."""

import logging
import time
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from contentapi.auth import jwt
from contentapi.auth.sessions import build_session_actor
from contentapi.auth.signing_keys import get_key_ring
from contentapi.core.errors import Malformed, Unauthenticated
from contentapi.core.identity import ANONYMOUS, OPERATOR, ROLE_SCOPES, Actor, Role, Scope
from tests.challenges import build_schemes
from tests.conftest import make_api_key
from tests.factories import get_user, make_actor, make_user
from users import services, tokens
from users.authentication import authenticate, authenticate_again
from users.models import ApiKey, User


def test_request_without_a_credential_is_anonymous() -> None:
    actor = authenticate({"Cookie": "sessionid=x", "Accept": "*/*"})

    assert actor is ANONYMOUS


@pytest.mark.parametrize("role", Role)
def test_token_authenticates_its_user_without_a_query(
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


def test_scope_outside_of_the_role_has_no_effect() -> None:
    token = tokens.issue_token(user=make_user(Role.READER), scopes=[Scope.POSTS_WRITE, Scope.COMMENTS_WRITE])

    actor = authenticate({"Authorization": f"Bearer {token}"})

    assert (actor.has(Scope.POSTS_WRITE), actor.has(Scope.COMMENTS_WRITE)) == (False, True)


def make_token(**claims: Any) -> str:
    now = int(time.time())
    usual = {"iss": "http://localhost", "aud": tokens.AUDIENCE, "sub": "7", "role": "author", "jti": "1"}
    said = {**usual, "iat": now, "exp": now + 600, **claims}
    return jwt.encode(
        {name: value for name, value in said.items() if value is not None}, get_key_ring().get_signing_key()
    )


def test_unknown_scopes_are_ignored() -> None:
    token = make_token(scope="openid posts:read  POSTS:WRITE posts:fly posts:read")

    assert authenticate({"Authorization": f"Bearer {token}"}).scopes == {Scope.POSTS_READ}


def test_token_without_a_scope_claim_has_no_scopes() -> None:
    assert authenticate({"Authorization": f"Bearer {make_token()}"}).scopes == frozenset()


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR", "Bearer  "])
def test_scheme_may_be_in_any_case(scheme: str) -> None:
    assert authenticate({"Authorization": f"{scheme} {make_token()}"}).user_id == 7


def require_bearer_refused(value: str) -> None:
    with pytest.raises(Unauthenticated) as raised:
        authenticate({"Authorization": value})

    assert raised.value.message == "This bearer token is not valid."
    assert raised.value.headers["WWW-Authenticate"] == build_schemes("invalid_token")


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
def test_token_with_an_invalid_claim_is_refused(claims: dict[str, Any]) -> None:
    require_bearer_refused(f"Bearer {make_token(**claims)}")


@pytest.mark.parametrize(
    "value", ["Bearer", "Bearer ", "Bearer a.b.c", "bearer é", "Bearer \0", "Bearer x y", "Bearer =", "Bearer a,b"]
)
def test_text_that_is_not_a_token_is_refused(value: str) -> None:
    require_bearer_refused(value)


@pytest.mark.parametrize(
    "form",
    ["Bearer {0} {0}", "Bearer {0}, Bearer {0}", "Bearer {0}\n", 'Bearer "{0}"', "Bearer\t{0}", "Bearer{0}", "{0}"],
)
def test_valid_token_with_additional_text_is_refused(form: str) -> None:
    with pytest.raises(Unauthenticated):
        authenticate({"Authorization": form.format(make_token())})


@pytest.mark.parametrize("value", ["", " ", "Basic YTpi", "Negotiate", "Token x", "ApiKey x", "x" * 100_000])
def test_other_scheme_is_refused(value: str) -> None:
    with pytest.raises(Unauthenticated) as raised:
        authenticate({"Authorization": value})

    assert raised.value.message == "Authorization must be Bearer and a token."
    assert raised.value.headers["WWW-Authenticate"] == build_schemes()


def test_refused_token_is_logged_by_its_reason_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    good = make_token()
    bad = [f"{good[:-8]}AAAAAAAA", make_token(exp=1), make_token(role="hush"), "hush", "hush.hush.hush"]

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


@pytest.mark.parametrize("key", ["good", "bad", ""])
def test_two_credentials_raise_malformed(key: str) -> None:
    presented = services.create_api_key(actor=OPERATOR, email=make_user().email, name="test") if key == "good" else key

    with pytest.raises(Malformed):
        authenticate({"X-API-Key": presented, "Authorization": ""})
    with pytest.raises(Malformed):
        authenticate({"X-API-Key": presented, "Authorization": f"Bearer {make_token()}"})


def test_one_credential_in_both_headers_authenticates_its_user() -> None:
    user = make_user()
    key = services.create_api_key(actor=OPERATOR, email=user.email, name="test")
    token = tokens.issue_token(user=user)

    actors = [authenticate({"X-API-Key": text, "Authorization": f"Bearer {text}"}) for text in (key, token)]

    assert [(actor.user_id, actor.credential) for actor in actors] == [(user.pk, "api-key"), (user.pk, "jwt")]


def test_api_key_is_not_a_bearer_token() -> None:
    key = services.create_api_key(actor=OPERATOR, email=make_user().email, name="test")

    with pytest.raises(Unauthenticated):
        authenticate({"Authorization": f"Bearer {key}"})
    with pytest.raises(Malformed):
        authenticate({"X-API-Key": key, "Authorization": f"Basic {key}"})


@pytest.mark.parametrize("role", [Role.EDITOR, Role.ADMIN])
def test_session_authenticates_its_user_with_all_scopes_of_the_role(role: Role) -> None:
    user = make_user(role)

    actor = build_session_actor(user)

    assert actor == Actor(user_id=user.pk, role=role, scopes=ROLE_SCOPES[role], credential="session", interface="admin")


def test_credentials_are_checked_again_by_two_statements(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    actors = [make_actor(Role.READER), make_actor(Role.ADMIN, scopes={Scope.POSTS_READ})]
    headers = [{"X-API-Key": make_api_key(actor)} for actor in actors]
    headers += [{**headers[0], "Authorization": f"Bearer {headers[0]['X-API-Key']}"}]
    headers += [{"Authorization": f"Bearer {tokens.issue_token(user=make_user())}"}]
    expected = [authenticate(each) for each in headers]

    with django_assert_num_queries(2):
        assert authenticate_again(headers) == expected


def test_credential_that_has_lost_its_rights_is_another_actor_or_none() -> None:
    actors = [make_actor(Role.ADMIN) for _ in range(4)]
    keys = [make_api_key(actor) for actor in actors]
    headers = [{"X-API-Key": key} for key in keys]
    before = authenticate_again(headers)
    services.revoke_api_key(actor=OPERATOR, prefix=keys[0].rpartition("_")[0])
    User.objects.filter(pk=get_user(actors[1]).pk).update(role=Role.READER)
    User.objects.filter(pk=get_user(actors[2]).pk).update(is_active=False)
    ApiKey.objects.filter(user=get_user(actors[3])).update(scopes=["posts:read"])

    after = authenticate_again([*headers, {"X-API-Key": f"{keys[3][:-1]}x"}, {"Authorization": "Basic x"}])

    assert after[0] is None
    assert after[2] is None
    assert after[1] is not None
    assert after[1].role is Role.READER
    assert after[3] is not None
    assert after[3].scopes == {Scope.POSTS_READ}
    assert after[4:] == [None, None]
    assert all(then != now for then, now in zip(before, after, strict=False))


def test_key_with_the_scope_of_a_type_that_is_gone_has_its_other_scopes() -> None:
    key = make_api_key(make_actor(Role.AUTHOR, scopes={Scope.POSTS_READ}))
    ApiKey.objects.update(scopes=["posts:read", "gone:read"])

    assert authenticate({"X-API-Key": key}).scopes == {Scope.POSTS_READ}
    assert [actor and actor.scopes for actor in authenticate_again([{"X-API-Key": key}])] == [{Scope.POSTS_READ}]
