"""The actor of a request with an API key, and the number of statements."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from contentapi.conf.timeouts import LAST_USE_INTERVAL
from contentapi.core.errors import Conflict, Unauthenticated
from contentapi.core.identity import OPERATOR, ROLE_SCOPES, Actor, Role, Scope
from tests.blog.racing import race
from tests.factories import make_user
from users import services
from users.authentication import authenticate
from users.models import ApiKey, User
from users.services import MAX_KEYS

UNUSABLE = "The API key is unknown, expired or revoked."


def make_key(user: User | None = None, **values: Any) -> str:
    return services.create_api_key(actor=OPERATOR, email=(user or make_user()).email, name="test", **values)


def change_key(**values: Any) -> None:
    assert ApiKey.objects.update(**values) == 1


def require_refused(key: str) -> None:
    with pytest.raises(Unauthenticated) as raised:
        authenticate({"X-API-Key": key})

    assert raised.value.message == UNUSABLE


@pytest.mark.parametrize("role", Role)
def test_key_authenticates_its_user(role: Role) -> None:
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


def test_user_has_at_most_20_valid_keys() -> None:
    user, other = make_user(), make_user()
    keys = [make_key(user) for _ in range(MAX_KEYS)]

    with pytest.raises(Conflict) as raised:
        make_key(user)

    count = ApiKey.objects.count()
    make_key(other)
    services.revoke_api_key(actor=OPERATOR, prefix=keys[0].rpartition("_")[0])
    make_key(user)
    now = timezone.now()
    ApiKey.objects.filter(prefix=keys[1].rpartition("_")[0]).update(
        created_at=now - timedelta(days=1), expires_at=now - timedelta(hours=1)
    )
    make_key(user)
    assert raised.value.message == "A user may have at most 20 valid API keys (got 21). Revoke one first."
    assert (MAX_KEYS, count) == (20, 20)
    with pytest.raises(Conflict):
        make_key(user)


@pytest.mark.django_db(transaction=True)
def test_two_concurrent_requests_do_not_create_key_21() -> None:
    user = make_user()
    for _ in range(MAX_KEYS - 1):
        make_key(user)

    def create() -> str:
        try:
            return make_key(user)
        except Conflict as error:
            return error.message

    created = race(lambda: User.objects.select_for_update().get(pk=user.pk), create, create)

    assert sorted(result[:5] for result in created) == ["A use", "capi_"]
    assert ApiKey.objects.count() == MAX_KEYS


def test_new_role_of_the_user_applies_at_once_and_limits_the_scopes() -> None:
    user = make_user(Role.EDITOR)
    key = make_key(user)
    User.objects.update(role=Role.READER)

    actor = authenticate({"X-API-Key": key})

    assert (actor.role, actor.has(Scope.COMMENTS_WRITE), actor.has(Scope.POSTS_WRITE)) == (Role.READER, True, False)


def test_recently_used_key_costs_one_select(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    key = make_key()
    authenticate({"X-API-Key": key})

    with django_assert_num_queries(1) as captured:
        authenticate({"X-API-Key": key})

    assert captured.captured_queries[0]["sql"].startswith("SELECT")


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
def test_text_in_another_format_is_refused_without_a_query(
    django_assert_num_queries: DjangoAssertNumQueries, key: str
) -> None:
    with django_assert_num_queries(0):
        require_refused(key)


@pytest.mark.parametrize("position", [0, 31, 63])
def test_altered_secret_is_refused_and_records_no_use(position: int) -> None:
    key = make_key()
    prefix, _, secret = key.rpartition("_")
    altered = secret[:position] + ("0" if secret[position] != "0" else "1") + secret[position + 1 :]

    require_refused(f"{prefix}_{altered}")

    assert ApiKey.objects.get().last_used_at is None


def test_expired_key_is_refused() -> None:
    key = make_key()
    now = timezone.now()
    change_key(created_at=now - timedelta(days=2), expires_at=now - timedelta(seconds=1))

    require_refused(key)


def test_last_use_is_recorded_again_after_a_minute() -> None:
    key = make_key()
    before = timezone.now()
    change_key(last_used_at=before - LAST_USE_INTERVAL)

    authenticate({"X-API-Key": key})

    last = ApiKey.objects.get().last_used_at
    assert last is not None
    assert last >= before
