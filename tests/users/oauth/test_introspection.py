"""Token introspection by a client with a secret (RFC 7662)."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from oauth2_provider.models import AccessToken

from tests.users.oauth.flow import Application, Browser, make_member
from users import tokens


def introspect(application: Application, token: str) -> dict[str, Any]:
    response = application.post("/oauth/introspect", token=token)
    assert response.status_code == 200
    state: dict[str, Any] = json.loads(response.content)
    return state


def test_access_token_is_active_until_it_is_revoked() -> None:
    user, application = make_member(), Application()
    granted = json.loads(application.exchange(Browser(user).obtain_code(application, scope="posts:read")).content)

    before = introspect(application, granted["access_token"])
    application.post("/oauth/revoke", token=granted["access_token"])
    after = introspect(application, granted["access_token"])

    assert before["active"] is True
    assert (before["sub"], before["scope"], before["client_id"]) == (
        str(user.pk), "posts:read", application.registered.client_id,
    )  # fmt: skip
    assert after == {"active": False}


def test_issued_token_is_active_until_its_user_is_locked() -> None:
    user, application = make_member(), Application()
    token = tokens.issue_token(user=user)

    before = introspect(application, token)
    user.is_active = False
    user.save()

    assert before["active"] is True
    assert introspect(application, token) == {"active": False}


def test_refresh_token_is_active_for_its_application_until_it_is_used() -> None:
    application, other = Application(), Application(name="Another")
    granted = json.loads(application.exchange(Browser(make_member()).obtain_code(application)).content)

    assert introspect(application, granted["refresh_token"]) == {"active": True}
    assert introspect(other, granted["refresh_token"]) == {"active": False}
    application.refresh(granted["refresh_token"])
    assert introspect(application, granted["refresh_token"]) == {"active": False}


def test_expired_refresh_token_is_not_active() -> None:
    application = Application()
    granted = json.loads(application.exchange(Browser(make_member()).obtain_code(application)).content)
    AccessToken.objects.update(expires=timezone.now() - timedelta(days=31))

    assert introspect(application, granted["refresh_token"]) == {"active": False}


@pytest.mark.parametrize("garbage", ["nothing", "a.b.c", "x" * 10_000, "é"])
def test_text_that_is_not_a_token_is_not_active(garbage: str) -> None:
    assert introspect(Application(), garbage) == {"active": False}


def test_introspection_without_a_token_is_400() -> None:
    assert Application().post("/oauth/introspect", token_type_hint="access_token").status_code == 400


def test_introspection_without_a_valid_secret_is_401() -> None:
    public, wrong = Application(public=True), Application()

    assert public.post("/oauth/introspect", token="nothing").status_code == 401
    assert public.post("/oauth/introspect", token="nothing", client_secret="").status_code == 401
    assert wrong.post("/oauth/introspect", secret="wrong", token="nothing").status_code == 401


@pytest.mark.parametrize("path", ["token", "revoke", "introspect"])
def test_endpoints_accept_only_a_posted_form(path: str) -> None:
    got, json_body = Client().get(f"/oauth/{path}?token=x"), Client().post(f"/oauth/{path}", "{}", "application/json")

    assert (got.status_code, got["Allow"]) == (405, "POST")
    assert json_body.status_code == 415
    assert set(got.json()) == set(json_body.json()) == {"error"}
