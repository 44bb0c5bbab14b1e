"""Rejected token requests, and the tokens that are revoked after reuse."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from oauth2_provider.models import AccessToken, Grant, RefreshToken
from oauth2_provider.models import Application as Registration

from tests.users.oauth.flow import CALLBACK, Application, Browser, make_member, query_api

# The code of RFC 6749, section 5.2, and the parameters that cause it
EXCHANGES: dict[str, tuple[str, dict[str, str]]] = {
    "a wrong verifier": ("invalid_grant", {"code_verifier": "x" * 50}),
    "no verifier": ("invalid_request", {"code_verifier": ""}),
    "another redirect": ("invalid_grant", {"redirect_uri": f"{CALLBACK}/more"}),
    "another code": ("invalid_grant", {"code": "nothing"}),
    "no code": ("invalid_request", {"code": ""}),
    "NUL in the code": ("invalid_request", {"code": "a\0b"}),
    "an unknown grant": ("unsupported_grant_type", {"grant_type": "password"}),
    "client credentials": ("unsupported_grant_type", {"grant_type": "client_credentials"}),
    "a device": ("unsupported_grant_type", {"grant_type": "urn:ietf:params:oauth:grant-type:device_code"}),
    "no grant": ("invalid_request", {"grant_type": ""}),
    "no refresh token": ("invalid_request", {"grant_type": "refresh_token"}),
    "an unknown refresh token": ("invalid_grant", {"grant_type": "refresh_token", "refresh_token": "x"}),
}


@pytest.mark.parametrize(("code_of_error", "changes"), EXCHANGES.values(), ids=EXCHANGES)
def test_invalid_exchange_is_400_and_creates_no_token(code_of_error: str, changes: dict[str, str]) -> None:
    application = Application()
    code = Browser(make_member()).obtain_code(application)

    response = application.exchange(code, **changes)

    assert response.status_code == 400
    assert json.loads(response.content)["error"] == code_of_error
    assert not AccessToken.objects.exists()


def test_wrong_or_missing_secret_is_401() -> None:
    application = Application()
    code = Browser(make_member()).obtain_code(application)

    response, without = application.exchange(code, secret="wrong"), application.exchange(code, secret="")

    assert (response.status_code, without.status_code) == (401, 401)
    assert response["WWW-Authenticate"].startswith("Basic")
    assert json.loads(response.content)["error"] == "invalid_client"


def test_code_is_valid_for_its_own_application_only() -> None:
    application, other = Application(), Application(name="Another")
    code = Browser(make_member()).obtain_code(application)
    other.verifier = application.verifier

    assert other.exchange(code).status_code == 400
    assert application.exchange(code).status_code == 200


def test_code_expires_after_a_minute() -> None:
    application = Application()
    code = Browser(make_member()).obtain_code(application)
    grant = Grant.objects.get()
    assert timedelta(seconds=50) < grant.expires - timezone.now() <= timedelta(seconds=60)
    Grant.objects.update(expires=timezone.now())

    assert application.exchange(code).status_code == 400


def grant_tokens(application: Application) -> dict[str, Any]:
    granted: dict[str, Any] = json.loads(application.exchange(Browser(make_member()).obtain_code(application)).content)
    return granted


def test_reused_code_revokes_the_tokens_that_it_gave() -> None:
    application = Application()
    code = Browser(make_member()).obtain_code(application)
    first = json.loads(application.exchange(code).content)
    second = json.loads(application.refresh(first["refresh_token"]).content)

    again = application.exchange(code)

    assert (again.status_code, json.loads(again.content)["error"]) == (400, "invalid_grant")
    assert query_api(second["access_token"]).status_code == 401
    assert application.refresh(second["refresh_token"]).status_code == 400


def test_code_reused_by_another_application_revokes_nothing() -> None:
    application, other = Application(), Application(name="Another")
    code = Browser(make_member()).obtain_code(application)
    granted = json.loads(application.exchange(code).content)

    assert other.exchange(code).status_code == 400

    assert query_api(granted["access_token"]).status_code == 200


def test_reused_refresh_token_revokes_its_family() -> None:
    application = Application()
    first = grant_tokens(application)
    second = json.loads(application.refresh(first["refresh_token"]).content)

    again = application.refresh(first["refresh_token"])

    assert (again.status_code, json.loads(again.content)["error"]) == (400, "invalid_grant")
    assert query_api(second["access_token"]).status_code == 401
    assert application.refresh(second["refresh_token"]).status_code == 400


def test_reused_refresh_token_does_not_revoke_another_family() -> None:
    application = Application()
    first, other = grant_tokens(application), grant_tokens(application)
    application.refresh(first["refresh_token"])

    application.refresh(first["refresh_token"])

    assert query_api(other["access_token"]).status_code == 200
    assert application.refresh(other["refresh_token"]).status_code == 200


def test_another_application_cannot_use_or_revoke_a_refresh_token() -> None:
    application, other = Application(), Application(name="Another")
    granted = grant_tokens(application)

    assert other.refresh(granted["refresh_token"]).status_code == 400
    assert other.post("/oauth/revoke", token=granted["refresh_token"]).status_code == 200

    assert application.refresh(granted["refresh_token"]).status_code == 200


def test_refresh_with_more_scopes_is_rejected() -> None:
    application = Application()
    granted = grant_tokens(application)

    response = application.refresh(granted["refresh_token"], scope="posts:read users:write")

    assert json.loads(response.content)["error"] == "invalid_scope"


def test_refresh_token_expires_thirty_days_after_its_last_use() -> None:
    application = Application()
    granted = grant_tokens(application)
    AccessToken.objects.update(expires=timezone.now() - timedelta(days=30))

    assert application.refresh(granted["refresh_token"]).status_code == 400


def test_locked_account_gets_no_tokens() -> None:
    application, user = Application(), make_member()
    code = Browser(user).obtain_code(application)
    granted = json.loads(application.exchange(Browser(user).obtain_code(application)).content)
    user.is_active = False
    user.save()

    assert application.exchange(code).status_code == 400
    assert application.refresh(granted["refresh_token"]).status_code == 400


def test_tokens_of_a_deleted_user_are_revoked() -> None:
    from users.revocations import REVOCATIONS

    application, user = Application(), make_member()
    granted = json.loads(application.exchange(Browser(user).obtain_code(application)).content)

    user.delete()
    REVOCATIONS.refresh()

    assert query_api(granted["access_token"]).status_code == 401
    assert application.refresh(granted["refresh_token"]).status_code == 400


def test_revoking_an_access_token_revokes_its_refresh_token() -> None:
    application = Application()
    granted = grant_tokens(application)

    assert application.post("/oauth/revoke", token=granted["access_token"]).status_code == 200

    assert query_api(granted["access_token"]).status_code == 401
    assert application.refresh(granted["refresh_token"]).status_code == 400


def test_revoking_an_unknown_token_is_200() -> None:
    assert Application().post("/oauth/revoke", token="nothing").status_code == 200


def test_no_usable_credential_is_stored() -> None:
    application, browser = Application(), Browser(make_member())
    unspent, code = browser.obtain_code(application), browser.obtain_code(application)
    granted = json.loads(application.exchange(code).content)

    tables = (Grant, AccessToken, RefreshToken, Registration)
    kept = " ".join(str(row) for table in tables for row in table.objects.values_list())

    for secret in (unspent, code, granted["access_token"], granted["refresh_token"], application.registered.secret):
        assert secret not in kept


def test_repeated_parameter_in_the_form_is_400() -> None:
    application = Application()
    code = Browser(make_member()).obtain_code(application)
    body = f"grant_type=authorization_code&code=wrong&code={code}&client_id={application.registered.client_id}"

    response = Client().generic("POST", "/oauth/token", body, "application/x-www-form-urlencoded")

    refusal = {"error": "invalid_request", "error_description": "code must not be sent twice."}
    assert (response.status_code, json.loads(response.content)) == (400, refusal)


@pytest.mark.parametrize("path", ["token", "revoke", "introspect"])
def test_credential_in_the_query_is_400(path: str) -> None:
    client = Application().registered
    address = f"/oauth/{path}?client_id={client.client_id}&client_secret={client.secret}"

    response = Client().generic("POST", address, "token=x", "application/x-www-form-urlencoded")

    assert response.status_code == 400


def test_two_client_credentials_are_401() -> None:
    application, other = Application(), Application(name="Another")
    form = {"client_id": other.registered.client_id, "client_secret": other.registered.secret, "token": "x"}

    assert application.post("/oauth/introspect", secret="wrong", **form).status_code == 401


def test_public_application_with_an_invalid_authorization_header_is_401() -> None:
    form = f"client_id={Application(public=True).registered.client_id}&token=x"
    headers = {"Authorization": "Basic é"}

    response = Client().generic("POST", "/oauth/revoke", form, "application/x-www-form-urlencoded", headers=headers)

    assert (response.status_code, json.loads(response.content)["error"]) == (401, "invalid_client")
