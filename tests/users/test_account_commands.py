"""The commands that change accounts: roles, locks, deletion, and new admins."""

import io
import re
import shlex
import sys
from types import SimpleNamespace

import pytest
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.core.management.base import CommandError
from django.test import Client
from oauth2_provider.models import Application

from contentapi.core.identity import OPERATOR, Role
from tests.factories import make_user
from tests.graphql_requests import post_to_graphql
from tests.users.command_runs import query_status, run_command, run_json
from tests.users.oauth.flow import PASSWORD, Browser, make_member, query_api
from tests.users.oauth.flow import Application as OAuthApplication
from users import services
from users.management import passwords
from users.management.commands import create_admin
from users.models import User
from users.revocations import REVOCATIONS


def test_set_role_changes_the_role() -> None:
    user = make_user(Role.READER)

    out, err = run_command("set_role", user.email.upper(), "editor")

    user.refresh_from_db()
    assert (user.role, out) == ("editor", "")
    assert f"{user.email} has the role editor." in err
    assert run_json("set_role", user.email, "author")["role"] == "author"


@pytest.mark.parametrize("command", ["set_role admin", "lock_user", "unlock_user", "delete_user", "set_password"])
def test_unknown_email_is_an_error(command: str) -> None:
    name, *rest = command.split()
    for email in ("nobody@example.invalid", "a\x00b@example.invalid"):
        with pytest.raises(CommandError, match="There is no user with the email"):
            run_command(name, email, *rest)


def test_locked_user_is_refused_until_unlocked(client: Client) -> None:
    user = make_user(Role.EDITOR, password=make_password(PASSWORD))
    key = services.create_api_key(actor=OPERATOR, email=user.email, name="test")
    token = run_command("issue_token", user.email)[0].strip()
    assert client.login(username=user.email, password=PASSWORD)

    def read_statuses() -> list[int]:
        REVOCATIONS.refresh()
        bearer = post_to_graphql({"query": "{ __typename }"}, Authorization=f"Bearer {token}").status
        return [query_status(key), bearer, client.get("/admin/").status_code]

    assert read_statuses() == [200, 200, 200]
    assert run_json("lock_user", user.email)["locked"] is True
    assert run_json("lock_user", user.email)["locked"] is True  # again: no error
    assert read_statuses() == [401, 401, 302]
    assert not Client().login(username=user.email, password=PASSWORD)

    assert run_json("unlock_user", user.email)["locked"] is False
    assert run_json("unlock_user", user.email)["locked"] is False
    assert read_statuses() == [200, 200, 302]  # sessions ended at the lock


def test_delete_user_prints_the_deleted_user() -> None:
    user = make_user()

    deleted = run_json("delete_user", user.email)

    assert (deleted["id"], deleted["email"], deleted["deleted"]) == (user.pk, user.email, True)


@pytest.mark.parametrize("command", [["set_role", "editor"], ["lock_user"], ["delete_user"]])
def test_operator_may_remove_the_last_admin_and_gets_a_note(command: list[str]) -> None:
    admin = make_user(Role.ADMIN)
    name, *rest = command

    _, err = run_command(name, admin.email, *rest)

    assert "Note: there is no active admin now." in err
    assert not User.objects.filter(role=Role.ADMIN, is_active=True).exists()


def test_create_admin_prints_the_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{PASSWORD}\n"))

    out, err = run_command("create_admin", "ines@example.invalid", "--name", "Ines", "--password-stdin")

    admin = User.objects.get()
    assert (out, err) == (f"{admin.pk}\n", "")
    assert (admin.role, admin.check_password(PASSWORD)) == (Role.ADMIN, True)


def test_create_admin_refuses_an_existing_email() -> None:
    user = make_user(Role.AUTHOR, email="Ines@example.invalid")

    with pytest.raises(CommandError, match=r"already a user .* role author.*`set_role Ines@example.invalid admin`"):
        run_command("create_admin", "ines@EXAMPLE.invalid", "--name", "Ines", "--password-stdin")

    user.refresh_from_db()
    assert user.role == Role.AUTHOR


def test_create_admin_without_a_terminal_requires_password_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())

    with pytest.raises(CommandError, match="--password-stdin"):
        run_command("create_admin", "ines@example.invalid", "--name", "Ines")

    assert not User.objects.exists()


def test_command_of_the_docker_commands_creates_an_admin_who_can_log_in(
    monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    page = (settings.BASE_DIR / "docs/operations/run.md").read_text()
    [command] = re.findall(r"^docker compose .* exec server python manage\.py (create_.*)$", page, re.MULTILINE)
    monkeypatch.setattr(create_admin, "prompt_for_password", lambda: PASSWORD)

    run_command(*shlex.split(command))

    email = User.objects.get(role=Role.ADMIN).email
    response = client.post("/admin/login/", {"username": email, "password": PASSWORD})
    assert (response.status_code, client.get("/admin/").status_code) == (302, 200)


def test_set_password_ends_the_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    user, browser = make_user(Role.EDITOR), Browser()
    browser.client.force_login(user)
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{PASSWORD}\n"))

    out, err = run_command("set_password", user.email.upper(), "--password-stdin")

    user.refresh_from_db()
    assert (out, user.check_password(PASSWORD)) == ("", True)
    assert f"{user.email} has a new password." in err
    assert browser.client.get("/admin/").status_code == 302


@pytest.mark.parametrize("second", [PASSWORD, "another password"])
def test_prompt_reads_the_password_twice(monkeypatch: pytest.MonkeyPatch, second: str) -> None:
    typed = iter([PASSWORD, second])
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(passwords, "getpass", lambda _: next(typed))

    if second == PASSWORD:
        assert passwords.prompt_for_password() == PASSWORD
    else:
        with pytest.raises(CommandError, match="The passwords differ"):
            passwords.prompt_for_password()


def test_revoked_client_loses_its_tokens() -> None:
    application = OAuthApplication()
    other = OAuthApplication(name="Other")
    browser = Browser(make_member())
    tokens = application.exchange(browser.obtain_code(application)).json()
    assert query_api(tokens["access_token"]).status_code == 200

    revoked = run_json("revoke_oauth_client", application.registered.client_id)

    REVOCATIONS.refresh()
    assert (revoked["clientId"], revoked["revoked"]) == (application.registered.client_id, True)
    assert query_api(tokens["access_token"]).status_code == 401
    assert application.refresh(tokens["refresh_token"]).status_code == 401
    assert [client.client_id for client in Application.objects.all()] == [other.registered.client_id]


@pytest.mark.parametrize("client_id", ["unknown", "a\x00b"])
def test_unknown_client_is_an_error(client_id: str) -> None:
    with pytest.raises(CommandError, match="There is no OAuth client with the id"):
        run_command("revoke_oauth_client", client_id)
