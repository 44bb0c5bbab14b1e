"""The commands that list users, keys and clients: their columns and their JSON."""

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.hashers import make_password
from oauth2_provider.models import Application

from contentapi.core.identity import OPERATOR, Role, Scope
from tests.factories import make_user
from tests.users.command_runs import run_command, run_json
from tests.users.oauth.flow import PASSWORD
from tests.users.oauth.flow import Application as OAuthApplication
from users import services
from users.models import ApiKey

SPOOFED = "Eve\n2  admin  False\x1b[2K\u2028\u202eEvil"


def test_list_users_prints_objects_without_passwords() -> None:
    user = make_user(
        Role.EDITOR,
        email="ines@example.invalid",
        name="Ines",
        password=make_password(PASSWORD),
        created_at=datetime(2026, 1, 2, 3, 4, 5, 678901, UTC),
        last_login=datetime(2026, 2, 3, tzinfo=UTC),
    )
    locked = make_user(is_active=False)

    first, second = run_json("list_users")

    assert first == {
        "id": user.pk,
        "email": "ines@example.invalid",
        "name": "Ines",
        "role": "editor",
        "locked": False,
        "hasPassword": True,
        "createdAt": "2026-01-02T03:04:05Z",
        "lastLogin": "2026-02-03T00:00:00Z",
    }
    assert (second["id"], second["locked"], second["lastLogin"]) == (locked.pk, True, None)


@pytest.mark.parametrize("command", ["list_users", "list_api_keys", "list_oauth_clients"])
def test_name_cannot_forge_a_line_of_a_table(command: str) -> None:
    user = make_user(name=SPOOFED)
    services.create_api_key(actor=OPERATOR, email=user.email, name=SPOOFED)
    Application.objects.create(name=SPOOFED, client_type="public", authorization_grant_type="authorization-code")

    out, _ = run_command(command)

    assert len(out.splitlines()) == 2
    assert out.replace("\n", "").isprintable()
    assert r"Eve\n2  admin  False\x1b[2K\u2028\u202eEvil" in out
    assert run_json(command)[0]["name"] == SPOOFED


@pytest.mark.parametrize("command", ["list_users", "list_api_keys", "list_oauth_clients"])
def test_empty_list_is_an_empty_array(command: str) -> None:
    assert run_json(command) == []
    assert len(run_command(command)[0].splitlines()) == 1


def test_list_api_keys_shows_the_state_and_no_secret() -> None:
    user = make_user(Role.AUTHOR, email="ines@example.invalid")
    keys = [
        services.create_api_key(actor=OPERATOR, email=user.email, name=name, scopes=[Scope.POSTS_READ])
        for name in ("valid", "revoked", "expired")
    ]
    services.revoke_api_key(actor=OPERATOR, prefix=keys[1].rpartition("_")[0])
    past = datetime.now(UTC) - timedelta(days=1)
    ApiKey.objects.filter(name="expired").update(created_at=past - timedelta(days=1), expires_at=past)

    out, _ = run_command("list_api_keys", "--json")

    listed = json.loads(out)
    assert [(key["name"], key["state"]) for key in listed] == [(name, name) for name in ("valid", "revoked", "expired")]
    assert listed[0]["prefix"] == keys[0].rpartition("_")[0]
    assert (listed[0]["owner"], listed[0]["scopes"], listed[0]["lastUsedAt"]) == (user.email, ["posts:read"], None)
    assert listed[1]["revokedAt"].endswith("Z")
    table, _ = run_command("list_api_keys")
    for key in keys:
        secret = key.rpartition("_")[2]
        digest = services.hash_api_key(key).hex()
        assert all(each not in text for each in (secret, digest) for text in (out, table))


def test_list_oauth_clients_shows_no_secret() -> None:
    client = OAuthApplication(name="Harbour News").registered
    stored = Application.objects.get()

    out, _ = run_command("list_oauth_clients", "--json")

    (listed,) = json.loads(out)
    assert (listed["clientId"], listed["name"], listed["type"]) == (client.client_id, "Harbour News", "confidential")
    assert listed["redirectUris"] == ["https://app.example.invalid/callback"]
    for text in (out, run_command("list_oauth_clients")[0]):
        assert client.secret not in text
        assert stored.client_secret not in text


@pytest.mark.servers
def test_reader_that_ends_early_causes_no_error() -> None:
    """Print more than a pipe takes, to a reader that ends after the first line, as `head` does."""
    code = (
        "from contentapi.core.commands import ListCommand\n"
        "ListCommand().print_rows(({'name': 'n' * 100} for _ in range(10_000)), ['name'], as_json=False)"
    )
    setup = "import os, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'contentapi.settings'; django.setup()\n"
    process = subprocess.Popen(
        [sys.executable, "-c", setup + code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stderr
    assert process.stdout.readline() == "NAME\n"
    process.stdout.close()

    assert (process.wait(30), process.stderr.read()) == (0, "")
    process.stderr.close()
