"""`issue_token` and `rotate_jwt_key`: only the value on stdout, messages on stderr, errors as `CommandError`."""

from pathlib import Path

import pytest
from django.core.management.base import CommandError
from msgspec import structs
from pytest_django import Settings

from contentapi.auth.signing_keys import get_key_ring, load_key_ring
from contentapi.core.identity import ROLE_SCOPES, Role
from tests.contentapi.auth.tokens import RSA
from tests.factories import make_user
from tests.users.command_runs import EMAIL, run_command
from users import tokens
from users.authentication import authenticate


def test_issue_token_prints_a_working_token_only() -> None:
    user = make_user(Role.AUTHOR, email=EMAIL)

    out, err = run_command("issue_token", EMAIL.upper())

    actor = authenticate({"Authorization": f"Bearer {out.strip()}"})
    assert (out.count("\n"), out.strip().count("."), err) == (1, 2, "")
    assert (actor.user_id, actor.role, actor.scopes) == (user.pk, Role.AUTHOR, ROLE_SCOPES[Role.AUTHOR])


def test_issue_token_accepts_scopes_and_a_lifetime() -> None:
    make_user(Role.AUTHOR, email=EMAIL)

    out, _ = run_command("issue_token", EMAIL, "--scope", "posts:write", "--scope", "posts:read", "--ttl", "7")

    claims = tokens.read_claims(out.strip())
    assert claims is not None
    assert (claims["scope"], claims["exp"] - claims["iat"]) == ("posts:read posts:write", 7)


def test_issue_token_names_scopes_that_the_role_does_not_allow() -> None:
    make_user(Role.READER, email=EMAIL)

    out, err = run_command("issue_token", EMAIL, "--scope", "posts:write", "--scope", "orders:read")

    assert tokens.read_claims(out.strip())
    assert err == "Note: the role reader does not allow posts:write; the token cannot use it.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: EMAIL"),
        (["nobody@example.invalid"], "There is no user with the email nobody@example.invalid."),
        ([EMAIL, "--ttl", "0"], "ttl: From 1 to 86400 seconds."),
        ([EMAIL, "--ttl", "soon"], "invalid int value: 'soon'"),
        ([EMAIL, "--scope", "posts:burn"], "invalid choice: 'posts:burn'"),
    ],
)
def test_issue_token_rejects_invalid_arguments(arguments: list[str], message: str) -> None:
    make_user(email=EMAIL)

    with pytest.raises(CommandError, match=message):
        run_command("issue_token", *arguments)


def test_rotate_jwt_key_prints_the_new_key_id_and_old_tokens_stay_valid(settings: Settings, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    user = make_user()
    before = tokens.issue_token(user=user)

    out, err = run_command("rotate_jwt_key")

    after = tokens.issue_token(user=user)
    assert (out, err) == (f"{get_key_ring().get_signing_key().kid}\n", "")
    assert len(get_key_ring().list_rs256_keys()) == 2
    assert tokens.read_claims(before)
    assert tokens.read_claims(after)


SECRET = "a secret of thirty-two bytes, at least"


def test_rotate_jwt_key_prints_the_next_value_of_the_variable(settings: Settings, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    settings.ENVIRONMENT = structs.replace(settings.ENVIRONMENT, jwt_private_key=RSA.private_pem, jwt_secret=SECRET)
    token = tokens.issue_token(user=make_user())

    out, err = run_command("rotate_jwt_key")

    settings.ENVIRONMENT = structs.replace(settings.ENVIRONMENT, jwt_private_key=out.strip())
    assert err.startswith("Above is the new value of JWT_PRIVATE_KEY")
    assert get_key_ring().get_signing_key().kid != RSA.kid
    assert [key.kid for key in get_key_ring().list_rs256_keys()] == [get_key_ring().get_signing_key().kid, RSA.kid]
    assert tokens.read_claims(token)
    assert out.count("PRIVATE KEY-----") == 2
    assert not list(tmp_path.iterdir())


def test_rotate_jwt_key_replaces_a_secret_by_a_private_key(settings: Settings) -> None:
    settings.ENVIRONMENT = structs.replace(settings.ENVIRONMENT, jwt_private_key="", jwt_secret=SECRET)

    out, _ = run_command("rotate_jwt_key")

    after = load_key_ring(out, SECRET, None)
    assert after.get_signing_key().algorithm == "RS256"
    assert after.get(None) == get_key_ring().get_signing_key()
