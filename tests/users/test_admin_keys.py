"""API keys in the admin: users create and revoke their own keys, and see a key once."""

import re
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.urls import reverse
from django.utils import timezone

from contentapi.core.errors import Conflict, Forbidden, Invalid, NotFound
from contentapi.core.identity import ALL_SCOPES, OPERATOR, Actor, Role, Scope
from tests.admin_forms import log_in, open_form
from tests.factories import make_user
from users import selectors, services
from users.authentication import authenticate
from users.models import ApiKey, User

KEYS, ADD = reverse("admin:users_apikey_changelist"), reverse("admin:users_apikey_add")
REVOKE = reverse("admin:users_apikey_bulk", args=["revoke"])  # the confirmed action of the list
SECRET = re.compile(r"capi_[0-9a-f]{8}_[0-9a-f]{64}")


def make_key(user: User) -> ApiKey:
    key = services.create_api_key(actor=OPERATOR, email=user.email, name="test")
    return ApiKey.objects.get(prefix=key.rpartition("_")[0])


def test_user_creates_a_key_that_works() -> None:
    user = make_user(Role.AUTHOR)
    client = log_in(user)
    form = open_form(client, ADD)

    response = client.post(ADD, {**form, "name": "My blog", "expires_in_days": "30", "scopes": ["posts:read"]})

    [secret] = SECRET.findall(response.text)
    actor = authenticate({"X-API-Key": secret})
    row = ApiKey.objects.get()
    assert (actor.user_id, actor.scopes) == (user.pk, {Scope.POSTS_READ})
    assert row.name == "My blog"
    assert round((row.expires_at - row.created_at) / timedelta(days=1), 3) == 30
    assert "no-store" in response["Cache-Control"]


def test_secret_is_in_one_response_only() -> None:
    client = log_in(make_user(Role.AUTHOR))
    form = {**open_form(client, ADD), "name": "My blog"}

    created = client.post(ADD, form)
    repeated = client.post(ADD, form)

    [secret] = SECRET.findall(created.text)
    half = secret.rpartition("_")[2]
    pages = [
        repeated,
        client.get(KEYS),
        client.get(reverse("admin:users_apikey_change", args=[ApiKey.objects.get().pk])),
    ]
    assert all(half not in page.text for page in pages)
    assert "This request has already created an API key." in repeated.text
    assert half not in str([session.get_decoded() for session in Session.objects.all()])
    assert half not in str(client.cookies)
    assert half not in str(SessionStore(client.session.session_key).load())


@pytest.mark.parametrize("edits", [{"name": "", "expires_in_days": "0", "scopes": ["all"]}, {"key_prefix": "x"}])
def test_key_against_a_rule_is_refused_in_the_form(edits: dict[str, str]) -> None:
    client = log_in(make_user(Role.AUTHOR))

    response = client.post(ADD, {**open_form(client, ADD), "name": "My blog", **edits})

    assert (response.status_code, ApiKey.objects.exists()) == (200, False)
    assert set(response.context["adminform"].form.errors) == set(edits)


def test_user_sees_and_revokes_own_keys_only() -> None:
    user = make_user(Role.EDITOR)
    own, foreign = make_key(user), make_key(make_user(Role.ADMIN))
    client = log_in(user)

    listed = client.get(KEYS).text
    hidden = client.get(reverse("admin:users_apikey_change", args=[foreign.pk]))
    client.post(REVOKE, {"ids": f"{own.pk},{foreign.pk}"})

    own.refresh_from_db()
    foreign.refresh_from_db()
    assert (own.prefix in listed, foreign.prefix in listed, hidden.status_code) == (True, False, 404)
    assert (own.revoked_at is not None, foreign.revoked_at) == (True, None)


def test_button_of_a_key_revokes_it_once_and_is_not_offered_again() -> None:
    user = make_user(Role.AUTHOR)
    key = make_key(user)
    client = log_in(user)
    page = reverse("admin:users_apikey_change", args=[key.pk])
    button = reverse("admin:users_apikey_action", args=[key.pk, "revoke"])

    offered = button in client.get(page).text
    client.post(button)

    key.refresh_from_db()
    assert (offered, key.revoked_at is not None, button in client.get(page).text) == (True, True, False)
    assert LogEntry.objects.filter(object_id=str(key.pk), change_message="Revoked.").count() == 1


def test_list_of_keys_is_filtered_by_state() -> None:
    user = make_user(Role.AUTHOR)
    keys = [make_key(user) for _ in range(4)]
    services.revoke_api_key(actor=OPERATOR, prefix=keys[0].prefix)
    past = timezone.now() - timedelta(days=1)
    ApiKey.objects.filter(pk__in=[key.pk for key in keys[1:3]]).update(
        created_at=past, expires_at=past + timedelta(hours=1)
    )

    numbers = {
        state: selectors.filter_keys_by_state(ApiKey.objects.all(), state).count()
        for state in ("valid", "revoked", "expired", "", "lost")
    }

    assert numbers == {"valid": 1, "revoked": 1, "expired": 2, "": 4, "lost": 4}
    assert log_in(user).get(KEYS, {"state": "expired"}).context["cl"].result_count == 2


def test_scope_that_the_actor_lacks_is_not_granted() -> None:
    user = make_user(Role.EDITOR)
    actor = Actor(user.pk, Role.EDITOR, frozenset({Scope.USERS_WRITE, Scope.POSTS_READ}), "api-key")

    with pytest.raises(Forbidden, match="posts:write"):
        services.create_api_key(actor=actor, email=user.email, name="x", scopes=[Scope.POSTS_WRITE])


def test_key_of_another_user_is_not_found_for_revocation() -> None:
    key, user = make_key(make_user()), make_user(Role.EDITOR)

    with pytest.raises(NotFound):
        services.revoke_api_key(actor=Actor(user.pk, Role.EDITOR, ALL_SCOPES, "session"), prefix=key.prefix)


def test_prefix_in_use_is_a_conflict_and_a_wrong_one_is_invalid() -> None:
    user = make_user()
    prefix = make_key(user).prefix

    with pytest.raises(Conflict):
        services.create_api_key(actor=OPERATOR, email=user.email, name="x", prefix=prefix)
    with pytest.raises(Invalid):
        services.create_api_key(actor=OPERATOR, email=user.email, name="x", prefix="capi_")
