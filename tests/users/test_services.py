"""Creation of users and API keys, and revocation of API keys: permissions and validation."""

import hashlib
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from contentapi.core.errors import Conflict, Invalid
from contentapi.core.identity import OPERATOR, ROLE_SCOPES, Role
from contentapi.db.statements import fetch_column
from tests.factories import make_user
from users import services
from users.models import ApiKey, User

PASSWORD = "seven harbours and a lamp"


def create(**values: Any) -> User:
    return services.create_user(**{"actor": OPERATOR, "email": "ines@example.invalid", "name": "Ines", **values})


def test_new_user_is_a_reader_without_a_password_by_default() -> None:
    user = create(email="  Ines@Example.invalid ", name=" Ines  Ähre ")

    stored = User.objects.get(pk=user.pk)
    assert (stored.email, stored.name, stored.role) == ("Ines@Example.invalid", "Ines  Ähre", Role.READER)
    assert (stored.is_active, stored.has_usable_password()) == (True, False)


def test_password_is_stored_as_an_argon2_hash() -> None:
    user = create(password=PASSWORD)

    stored = User.objects.get(pk=user.pk)
    assert stored.password.startswith("argon2$argon2id$")
    assert (stored.check_password(PASSWORD), stored.check_password(PASSWORD.upper())) == (True, False)


@pytest.mark.parametrize(
    ("values", "fields"),
    [
        ({"name": ""}, {"name": ["This must not be empty."]}),
        ({"name": "x" * 151}, {"name": ["At most 150 characters are allowed (got 151)."]}),
        ({"email": "ines"}, {"email": ["This is not an email address."]}),
        ({"email": "a b@example.invalid"}, {"email": ["This is not an email address."]}),
        ({"name": "", "email": "x"}, {"name": ["This must not be empty."], "email": ["This is not an email address."]}),
        (
            {"password": ""},
            {"password": ["This password is too short. It must contain at least 8 characters."]},
        ),
        ({"password": "password1"}, {"password": ["This password is too common."]}),
        ({"password": "ines@example.invalid"}, {"password": ["The password is too similar to the email."]}),
    ],
)
def test_invalid_user_is_rejected_and_not_stored(values: dict[str, Any], fields: Mapping[str, list[str]]) -> None:
    with pytest.raises(Invalid) as raised:
        create(**values)

    assert raised.value.fields == fields
    assert not User.objects.exists()


def test_user_at_the_limits_is_stored() -> None:
    domain = "@example.invalid"

    user = create(name="x" * 150, email="x" * (254 - len(domain)) + domain)

    assert (len(user.name), len(user.email)) == (150, 254)


@pytest.mark.parametrize("email", ["ines@example.invalid", "INES@EXAMPLE.INVALID", " Ines@Example.Invalid "])
def test_email_taken_in_any_case_raises_conflict(email: str) -> None:
    create()

    with pytest.raises(Conflict) as raised:
        create(email=email)

    assert raised.value.message == f"The email {email.strip()} is taken."
    assert User.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_one_of_two_concurrent_creations_with_an_email_succeeds() -> None:
    def attempt(email: str) -> str:
        try:
            return create(email=email).email
        except Conflict as taken:
            return taken.message
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        outcomes = set(pool.map(attempt, ["ines@example.invalid", "INES@example.invalid"]))

    [winner] = User.objects.values_list("email", flat=True)
    [loser] = {"ines@example.invalid", "INES@example.invalid"} - {winner}
    assert outcomes == {winner, f"The email {loser} is taken."}


@pytest.mark.parametrize("role", Role)
def test_key_has_a_prefix_and_by_default_all_scopes_and_a_year(role: Role) -> None:
    user = make_user(role)

    key = services.create_api_key(actor=OPERATOR, email=user.email.upper(), name=" blog ")

    assert re.fullmatch("capi_[0-9a-f]{8}_[0-9a-f]{64}", key)
    row = ApiKey.objects.get()
    assert (row.user, row.name, row.prefix) == (user, "blog", key.rpartition("_")[0])
    assert row.scopes == sorted(ROLE_SCOPES[role])
    assert (row.expires_at - row.created_at).total_seconds() == pytest.approx(365 * 24 * 3600, abs=60)
    assert (row.revoked_at, row.last_used_at) == (None, None)


def test_key_is_stored_as_a_hash() -> None:
    key = services.create_api_key(actor=OPERATOR, email=make_user().email, name="blog")

    [row] = fetch_column("SELECT users_apikey::text FROM users_apikey")

    assert key.rpartition("_")[2] not in row
    assert hashlib.sha256(key.encode()).hexdigest() in row


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"expires_in_days": 0}, "expires_in_days"),
        ({"expires_in_days": 36_501}, "expires_in_days"),
    ],
)
def test_invalid_key_is_rejected_and_not_stored(values: dict[str, Any], field: str) -> None:
    user = make_user()

    with pytest.raises(Invalid) as raised:
        services.create_api_key(actor=OPERATOR, **{"email": user.email, "name": "x", **values})

    assert list(raised.value.fields) == [field]
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize(("name", "days"), [("x", 1), ("x" * 100, 36_500)])
def test_key_at_the_limits_is_stored(name: str, days: int) -> None:
    services.create_api_key(actor=OPERATOR, email=make_user().email, name=name, expires_in_days=days)

    assert ApiKey.objects.get().name == name


def test_revocation_affects_only_its_key_and_keeps_the_first_time() -> None:
    user = make_user()
    prefix, other = (
        services.create_api_key(actor=OPERATOR, email=user.email, name="x").rpartition("_")[0] for _ in range(2)
    )

    services.revoke_api_key(actor=OPERATOR, prefix=prefix)
    revoked_at = ApiKey.objects.get(prefix=prefix).revoked_at
    services.revoke_api_key(actor=OPERATOR, prefix=prefix)

    assert revoked_at is not None
    assert revoked_at <= timezone.now()
    assert ApiKey.objects.get(prefix=prefix).revoked_at == revoked_at
    assert ApiKey.objects.get(prefix=other).revoked_at is None
