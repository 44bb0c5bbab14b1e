"""Which credential makes which actor, and at what cost."""

import logging
import time
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from contentapi import jwt
from contentapi.errors import Malformed, Unauthenticated
from contentapi.identity import ANONYMOUS, ROLE_SCOPES, Actor, Role, Scope
from contentapi.keys import keys
from tests.factories import make_user
from users import services, tokens
from users.authentication import authenticate, from_session
from users.models import ApiKey, User

UNUSABLE = "The API key is unknown, expired or revoked."


def make_key(user: User | None = None, **values: Any) -> str:
    return services.create_api_key(email=(user or make_user()).email, name="test", **values)


def change_key(**values: Any) -> None:
    assert ApiKey.objects.update(**values) == 1


def require_refused(key: str) -> None:
    with pytest.raises(Unauthenticated) as raised:
        authenticate({"X-API-Key": key})

    assert raised.value.message == UNUSABLE


def test_no_credential_is_anonymous() -> None:
    actor = authenticate({"Cookie": "sessionid=x", "Accept": "*/*"})

    assert actor is ANONYMOUS


@pytest.mark.django_db
@pytest.mark.parametrize("role", Role)
def test_a_key_stands_for_its_user(role: Role) -> None:
    user = make_user(role)
    key = make_key(user)

    actor = authenticate({"X-API-Key": key})

    assert actor == Actor(
        user_id=user.pk,
        role=role,
        scopes=ROLE_SCOPES[role],
        credential="api-key",
        credential_id=f"key:{key.rpartition('_')[0]}",
    )


@pytest.mark.django_db
def test_a_key_brings_its_own_scopes() -> None:
    user = make_user(Role.AUTHOR)
    key = make_key(user, scopes=[Scope.POSTS_READ])

    actor = authenticate({"X-API-Key": key})

    assert actor == Actor(
        user_id=user.pk,
        role=Role.AUTHOR,
        scopes=frozenset({Scope.POSTS_READ}),
        credential="api-key",
        credential_id=f"key:{key.rpartition('_')[0]}",
    )


@pytest.mark.django_db
def test_a_users_new_role_counts_at_once_and_a_scope_beyond_it_does_not() -> None:
    user = make_user(Role.EDITOR)
    key = make_key(user)
    User.objects.update(role=Role.READER)

    actor = authenticate({"X-API-Key": key})

    assert (actor.role, actor.has(Scope.COMMENTS_WRITE), actor.has(Scope.POSTS_WRITE)) == (Role.READER, True, False)


@pytest.mark.django_db
def test_a_key_that_was_just_used_costs_one_read(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    key = make_key()
    authenticate({"X-API-Key": key})

    with django_assert_num_queries(1) as captured:
        authenticate({"X-API-Key": key})

    assert captured.captured_queries[0]["sql"].startswith("SELECT")


@pytest.mark.django_db
def test_the_first_use_of_a_key_costs_one_read_and_one_write(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    key = make_key()

    with django_assert_num_queries(2) as captured:
        authenticate({"X-API-Key": key})

    assert [query["sql"].split()[0] for query in captured.captured_queries] == ["SELECT", "UPDATE"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "key",
    [
        "",
        " ",
        "capi_",
        "capi_0000000g_" + "0" * 64,
        "capi_00000000_" + "0" * 63,
        "capi_00000000_" + "0" * 65,
        "capi_00000000_" + "0" * 64 + "\n",
        "CAPI_00000000_" + "0" * 64,
        "capi_00000000_" + "\u0660" * 64,
        "\0",
        "x" * 100_000,
    ],
)
def test_what_has_not_the_form_of_a_key_is_refused_without_a_query(
    django_assert_num_queries: DjangoAssertNumQueries, key: str
) -> None:
    with django_assert_num_queries(0):
        require_refused(key)


@pytest.mark.django_db
def test_an_unknown_prefix_is_refused_after_one_read(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    key = make_key()
    change_key(prefix="capi_ffffffff" if "capi_ffffffff" not in key else "capi_00000000")

    with django_assert_num_queries(1):
        require_refused(key)


@pytest.mark.django_db
@pytest.mark.parametrize("position", [0, 31, 63])
def test_an_altered_secret_is_refused_and_leaves_no_trace(position: int) -> None:
    key = make_key()
    prefix, _, secret = key.rpartition("_")
    altered = secret[:position] + ("0" if secret[position] != "0" else "1") + secret[position + 1 :]

    require_refused(f"{prefix}_{altered}")

    assert ApiKey.objects.get().last_used_at is None


@pytest.mark.django_db
def test_the_secret_of_another_key_is_refused() -> None:
    user = make_user()
    one, other = make_key(user), make_key(user)

    require_refused(one.rpartition("_")[0] + "_" + other.rpartition("_")[2])


@pytest.mark.django_db
def test_a_revoked_key_is_refused_at_once() -> None:
    key = make_key()
    authenticate({"X-API-Key": key})

    services.revoke_api_key(prefix=key.rpartition("_")[0])

    require_refused(key)


@pytest.mark.django_db
def test_an_expired_key_is_refused() -> None:
    key = make_key()
    now = timezone.now()
    change_key(created_at=now - timedelta(days=2), expires_at=now - timedelta(seconds=1))

    require_refused(key)


@pytest.mark.django_db
def test_the_key_of_a_locked_user_is_refused_and_works_again_with_the_user() -> None:
    user = make_user()
    key = make_key(user)

    User.objects.update(is_active=False)
    require_refused(key)
    User.objects.update(is_active=True)

    assert authenticate({"X-API-Key": key}).user_id == user.pk


@pytest.mark.django_db
def test_the_key_of_a_deleted_user_is_refused() -> None:
    user = make_user()
    key = make_key(user)

    user.delete()

    require_refused(key)


@pytest.mark.django_db
def test_the_last_use_is_kept_and_not_again_within_a_minute() -> None:
    key = make_key()
    before = timezone.now()

    authenticate({"X-API-Key": key})
    first = ApiKey.objects.get().last_used_at
    authenticate({"X-API-Key": key})

    assert first is not None
    assert first >= before
    assert ApiKey.objects.get().last_used_at == first


@pytest.mark.django_db
def test_the_last_use_is_kept_again_after_a_minute() -> None:
    key = make_key()
    before = timezone.now()
    change_key(last_used_at=before - ApiKey.LAST_USE_KEPT_EVERY)

    authenticate({"X-API-Key": key})

    last = ApiKey.objects.get().last_used_at
    assert last is not None
    assert last >= before


@pytest.mark.django_db
@pytest.mark.parametrize("role", Role)
def test_a_token_stands_for_its_user_without_a_query(
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
    return jwt.encode({name: value for name, value in said.items() if value is not None}, keys().signing())


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
    presented = make_key() if key == "good" else key

    with pytest.raises(Malformed):
        authenticate({"X-API-Key": presented, "Authorization": ""})
    with pytest.raises(Malformed):
        authenticate({"X-API-Key": presented, "Authorization": f"Bearer {token_that_says()}"})


@pytest.mark.django_db
@pytest.mark.parametrize("role", [Role.EDITOR, Role.ADMIN])
def test_a_session_stands_for_its_user_with_all_scopes_of_the_role(role: Role) -> None:
    user = make_user(role)

    actor = from_session(user)

    assert actor == Actor(user_id=user.pk, role=role, scopes=ROLE_SCOPES[role], credential="session")
