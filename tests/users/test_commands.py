"""The commands for users and API keys: only the value on stdout, messages on stderr, errors as `CommandError`."""

import io
import re
import sys

import pytest
from django.core.management.base import CommandError

from contentapi.core.identity import ROLE_SCOPES, Role
from tests.factories import make_user
from tests.users.command_runs import EMAIL, query_status, run_command
from users.models import ApiKey, User

PASSWORD = "seven harbours and a lamp"


def test_create_user_prints_the_id_only() -> None:
    out, err = run_command("create_user", EMAIL, "--name", "Ines")

    user = User.objects.get()
    assert (out, err) == (f"{user.pk}\n", "")
    assert (user.email, user.name, user.role, user.has_usable_password()) == (EMAIL, "Ines", Role.READER, False)


@pytest.mark.parametrize("typed", [f"{PASSWORD}\n", PASSWORD, f"{PASSWORD}\r\n", f"{PASSWORD}\nmore\n"])
def test_create_user_reads_the_password_from_the_first_line(monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))

    out, err = run_command("create_user", EMAIL, "--name", "Ines", "--password-stdin")

    user = User.objects.get()
    assert user.check_password(PASSWORD)
    assert (out, err) == (f"{user.pk}\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["create_user", "new"], "the following arguments are required: --name"),
        (["create_user", "--name", "Ines"], "the following arguments are required: EMAIL"),
        (["create_user", "new@example.invalid", "--name", " "], "name: This must not be empty."),
        (["create_user", "ines", "--name", "Ines"], "email: This is not an email address."),
        (["create_user", "new", "--name", "Ines", "--role", "owner"], "invalid choice: 'owner'"),
        (["create_api_key", "nobody@example.invalid", "--name", "x"], "There is no user with the email nobody@"),
        (["create_api_key", EMAIL], "the following arguments are required: --name"),
        (["create_api_key", EMAIL, "--name", ""], "name: From 1 to 100 characters."),
        (["create_api_key", EMAIL, "--name", "x", "--scope", "posts:burn"], "invalid choice: 'posts:burn'"),
        (["create_api_key", EMAIL, "--name", "x", "--expires-in-days", "0"], "From 1 to 36500."),
        (["create_api_key", EMAIL, "--name", "x", "--expires-in-days", "soon"], "invalid int value: 'soon'"),
    ],
)
def test_invalid_arguments_are_rejected_and_nothing_is_stored(arguments: list[str], message: str) -> None:
    user = make_user(email=EMAIL)

    with pytest.raises(CommandError) as raised:
        run_command(*arguments)

    assert message in str(raised.value)
    assert (User.objects.get(), ApiKey.objects.exists()) == (user, False)


def test_create_api_key_prints_a_working_key_only() -> None:
    user = make_user(Role.AUTHOR, email=EMAIL)

    out, err = run_command("create_api_key", EMAIL.upper(), "--name", "blog")

    assert re.fullmatch("capi_[0-9a-f]{8}_[0-9a-f]{64}\n", out)
    assert (err, query_status(out.strip())) == ("", 200)
    row = ApiKey.objects.get()
    assert (row.user, row.name, row.scopes) == (user, "blog", sorted(ROLE_SCOPES[Role.AUTHOR]))


def test_create_api_key_accepts_scopes_and_days() -> None:
    make_user(Role.AUTHOR, email=EMAIL)

    run_command(
        *("create_api_key", EMAIL, "--name", "blog", "--expires-in-days", "7"),
        *("--scope", "posts:write", "--scope", "posts:read", "--scope", "posts:read"),
    )

    row = ApiKey.objects.get()
    assert row.scopes == ["posts:read", "posts:write"]
    assert (row.expires_at - row.created_at).total_seconds() == pytest.approx(7 * 24 * 3600, abs=60)


def test_create_api_key_warns_on_stderr_of_scopes_outside_of_the_role() -> None:
    make_user(Role.READER, email=EMAIL)

    out, err = run_command("create_api_key", EMAIL, "--name", "x", "--scope", "posts:write", "--scope", "orders:read")

    assert err == "Note: the role reader does not allow posts:write; the key cannot use it.\n"
    assert query_status(out.strip()) == 200


def test_revoke_api_key_takes_effect_at_once_and_may_be_repeated() -> None:
    make_user(email=EMAIL)
    key = run_command("create_api_key", EMAIL, "--name", "x")[0].strip()
    prefix = key.rpartition("_")[0]
    assert query_status(key) == 200

    outputs = [run_command("revoke_api_key", prefix), run_command("revoke_api_key", prefix)]

    assert outputs == [("", f"{prefix} is revoked.\n")] * 2
    assert query_status(key) == 401


def test_revoke_api_key_rejects_a_whole_key_without_repeating_its_secret() -> None:
    make_user(email=EMAIL)
    key = run_command("create_api_key", EMAIL, "--name", "x")[0].strip()

    with pytest.raises(CommandError) as raised:
        run_command("revoke_api_key", key)

    assert key.rpartition("_")[2] not in str(raised.value)
