"""What the authorization server refuses an application that wants tokens, and which tokens it ends."""

import base64
import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from oauth2_provider.models import AccessToken, Grant, RefreshToken

from tests.users.oauth.flow import CALLBACK, Application, Browser, ask, make_member

pytestmark = pytest.mark.django_db

EXCHANGES: dict[str, dict[str, str]] = {
    "a wrong verifier": {"code_verifier": "x" * 50},
    "no verifier": {"code_verifier": ""},
    "another redirect": {"redirect_uri": f"{CALLBACK}/more"},
    "another code": {"code": "nothing"},
    "no code": {"code": ""},
    "an unknown grant": {"grant_type": "password"},
    "client credentials": {"grant_type": "client_credentials"},
    "a device": {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "x"},
    "no grant": {"grant_type": ""},
}


@pytest.mark.parametrize("changes", EXCHANGES.values(), ids=EXCHANGES)
def test_a_wrong_exchange_gets_nothing(changes: dict[str, str]) -> None:
    application = Application()
    code = Browser(make_member()).code_for(application)

    response = application.exchange(code, **changes)

    assert response.status_code == 400
    assert json.loads(response.content)["error"]
    assert not AccessToken.objects.exists()


def test_a_wrong_secret_is_401() -> None:
    application = Application()
    code = Browser(make_member()).code_for(application)

    response = application.post("/oauth/token", secret="wrong", grant_type="authorization_code", code=code)

    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Basic")
    assert json.loads(response.content)["error"] == "invalid_client"


def test_a_confidential_application_cannot_do_without_its_secret() -> None:
    application = Application()
    code = Browser(make_member()).code_for(application)
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK}

    response = application.post("/oauth/token", secret="", code_verifier=application.verifier, **form)

    assert response.status_code == 401


def test_a_code_is_of_use_to_its_own_application_only() -> None:
    application, other = Application(), Application(name="Another")
    code = Browser(make_member()).code_for(application)
    other.verifier = application.verifier

    assert other.exchange(code).status_code == 400
    assert application.exchange(code).status_code == 200


def test_a_code_ends_after_a_minute() -> None:
    application = Application()
    code = Browser(make_member()).code_for(application)
    grant = Grant.objects.get()
    assert timedelta(seconds=50) < grant.expires - timezone.now() <= timedelta(seconds=60)
    Grant.objects.update(expires=timezone.now())

    assert application.exchange(code).status_code == 400


def granted_to(application: Application) -> dict[str, Any]:
    granted: dict[str, Any] = json.loads(application.exchange(Browser(make_member()).code_for(application)).content)
    return granted


def test_a_code_presented_twice_ends_all_that_came_out_of_it() -> None:
    application = Application()
    code = Browser(make_member()).code_for(application)
    first = json.loads(application.exchange(code).content)
    second = json.loads(application.refresh(first["refresh_token"]).content)

    again = application.exchange(code)

    assert (again.status_code, json.loads(again.content)["error"]) == (400, "invalid_grant")
    assert ask(second["access_token"]).status_code == 401
    assert application.refresh(second["refresh_token"]).status_code == 400


def test_another_application_ends_nothing_by_presenting_a_spent_code() -> None:
    application, other = Application(), Application(name="Another")
    code = Browser(make_member()).code_for(application)
    granted = json.loads(application.exchange(code).content)

    assert other.exchange(code).status_code == 400

    assert ask(granted["access_token"]).status_code == 200


def test_a_refresh_token_presented_twice_ends_its_family() -> None:
    application = Application()
    first = granted_to(application)
    second = json.loads(application.refresh(first["refresh_token"]).content)

    again = application.refresh(first["refresh_token"])

    assert (again.status_code, json.loads(again.content)["error"]) == (400, "invalid_grant")
    assert ask(second["access_token"]).status_code == 401
    assert application.refresh(second["refresh_token"]).status_code == 400


def test_one_family_does_not_end_with_another() -> None:
    application = Application()
    first, other = granted_to(application), granted_to(application)
    application.refresh(first["refresh_token"])

    application.refresh(first["refresh_token"])

    assert ask(other["access_token"]).status_code == 200
    assert application.refresh(other["refresh_token"]).status_code == 200


def test_another_application_cannot_use_or_end_a_refresh_token() -> None:
    application, other = Application(), Application(name="Another")
    granted = granted_to(application)

    assert other.refresh(granted["refresh_token"]).status_code == 400
    assert other.post("/oauth/revoke", token=granted["refresh_token"]).status_code == 200

    assert application.refresh(granted["refresh_token"]).status_code == 200


def test_a_refresh_cannot_ask_for_more() -> None:
    application = Application()
    granted = granted_to(application)

    response = application.refresh(granted["refresh_token"], scope="posts:read users:write")

    assert json.loads(response.content)["error"] == "invalid_scope"


def test_a_refresh_token_ends_thirty_days_after_its_last_use() -> None:
    application = Application()
    granted = granted_to(application)
    AccessToken.objects.update(expires=timezone.now() - timedelta(days=30))

    assert application.refresh(granted["refresh_token"]).status_code == 400


def test_a_locked_account_gets_no_tokens() -> None:
    application, user = Application(), make_member()
    code = Browser(user).code_for(application)
    granted = json.loads(application.exchange(Browser(user).code_for(application)).content)
    user.is_active = False
    user.save()

    assert application.exchange(code).status_code == 400
    assert application.refresh(granted["refresh_token"]).status_code == 400


def test_a_deleted_accounts_tokens_end() -> None:
    from users.revocations import REVOCATIONS

    application, user = Application(), make_member()
    granted = json.loads(application.exchange(Browser(user).code_for(application)).content)

    user.delete()
    REVOCATIONS.refresh()

    assert ask(granted["access_token"]).status_code == 401
    assert application.refresh(granted["refresh_token"]).status_code == 400


def test_revoking_an_access_token_ends_its_refresh_token_too() -> None:
    application = Application()
    granted = granted_to(application)

    assert application.post("/oauth/revoke", token=granted["access_token"]).status_code == 200

    assert ask(granted["access_token"]).status_code == 401
    assert application.refresh(granted["refresh_token"]).status_code == 400


def test_revoking_what_is_no_token_is_fine() -> None:
    assert Application().post("/oauth/revoke", token="nothing").status_code == 200


def test_nothing_that_lets_somebody_in_is_kept() -> None:
    application, browser = Application(), Browser(make_member())
    unspent, code = browser.code_for(application), browser.code_for(application)
    granted = json.loads(application.exchange(code).content)

    kept = " ".join(
        str(row) for model in (Grant, AccessToken, RefreshToken) for row in model.objects.values_list()
    ) + " ".join(map(str, application_rows()))

    for secret in (unspent, code, granted["access_token"], granted["refresh_token"], application.registered.secret):
        assert secret not in kept


def application_rows() -> list[Any]:
    from oauth2_provider.models import Application as Row

    return list(Row.objects.values_list())


def test_a_parameter_twice_gets_nothing() -> None:
    application = Application()
    code = Browser(make_member()).code_for(application)
    body = f"grant_type=authorization_code&code=wrong&code={code}&client_id={application.registered.client_id}"

    response = Client().generic("POST", "/oauth/token", body, "application/x-www-form-urlencoded")

    assert (response.status_code, json.loads(response.content)) == (400, {"error": "code must not be sent twice."})


@pytest.mark.parametrize("path", ["token", "revoke", "introspect"])
def test_no_credential_is_taken_from_an_address(path: str) -> None:
    client = Application().registered
    address = f"/oauth/{path}?client_id={client.client_id}&client_secret={client.secret}"

    response = Client().generic("POST", address, "token=x", "application/x-www-form-urlencoded")

    assert response.status_code == 400


def test_a_client_authenticates_in_one_way() -> None:
    application, other = Application(), Application(name="Another")
    form = {"client_id": other.registered.client_id, "client_secret": other.registered.secret, "token": "x"}

    assert application.post("/oauth/introspect", secret="wrong", **form).status_code == 401


def test_the_name_of_the_scheme_may_be_written_small() -> None:
    client = Application().registered
    pair = base64.b64encode(f"{client.client_id}:{client.secret}".encode()).decode()

    response = Client().generic(
        "POST",
        "/oauth/revoke",
        "token=x",
        "application/x-www-form-urlencoded",
        headers={"Authorization": f"basic {pair}"},
    )

    assert response.status_code == 200
