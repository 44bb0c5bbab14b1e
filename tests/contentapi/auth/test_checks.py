"""The system checks of the signing keys."""

import pytest
from pytest_django import Settings

from tests.contentapi.auth.tokens import RSA
from tests.environment import KEY, check, get_messages


@pytest.mark.parametrize("keys", [{"JWT_SECRET": KEY}, {"JWT_PRIVATE_KEY": RSA.private_pem}])
def test_database_with_one_key_passes(settings: Settings, keys: dict[str, str]) -> None:
    errors = check(settings, DATABASE_URL="postgresql://app@db.invalid/content", SECRET_KEY=KEY, **keys)

    assert errors == []


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"JWT_SECRET": "hush" * 7}, "JWT_SECRET must have 32 bytes or more."),
        ({"JWT_SECRET": RSA.public_pem}, "JWT_SECRET must be a secret, not a key in PEM or SSH form."),
        ({"JWT_PRIVATE_KEY": "hush"}, "JWT_PRIVATE_KEY cannot be read as a key in PEM."),
        ({"JWT_PRIVATE_KEY": RSA.private_pem[:-40]}, "JWT_PRIVATE_KEY cannot be read as a key in PEM."),
        ({"JWT_PRIVATE_KEY": RSA.public_pem}, "JWT_PRIVATE_KEY must begin with a private key."),
    ],
)
def test_invalid_key_is_one_error_without_the_key(settings: Settings, variables: dict[str, str], message: str) -> None:
    errors = check(settings, **variables)

    assert get_messages(errors) == [(*variables, message)]
    assert errors[0].hint
    assert not any(line in repr(errors) for text in variables.values() for line in text.splitlines() if line)
