"""Rejected authorization requests: an error page, or a redirect with the error."""

import pytest
from oauth2_provider.models import Grant

from tests.users.oauth.flow import CALLBACK, Application, Browser, make_member, read_redirect_parameters

REDIRECTED = {
    "no challenge": ({"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
    "plain": ({"code_challenge_method": "plain"}, "invalid_request"),
    "a challenge without a method": ({"code_challenge_method": None}, "invalid_request"),
    "an unknown method": ({"code_challenge_method": "S512"}, "invalid_request"),
    "a challenge that is no SHA-256": ({"code_challenge": "short"}, "invalid_request"),
    "a challenge too long to keep": ({"code_challenge": "x" * 500}, "invalid_request"),
    "the implicit grant": ({"response_type": "token"}, "unsupported_response_type"),
    "a hybrid grant": ({"response_type": "code token"}, "unauthorized_client"),
    "no response type": ({"response_type": None}, "invalid_request"),
    "an unknown scope": ({"scope": "posts:read everything"}, "invalid_scope"),
    "an endless state": ({"state": "s" * 1001}, "invalid_request"),
}
SHOWN: dict[str, dict[str, str | None]] = {
    "an unknown application": {"client_id": "nobody"},
    "no application": {"client_id": None},
    "another host": {"redirect_uri": "https://evil.example.invalid/callback"},
    "another path": {"redirect_uri": f"{CALLBACK}/more"},
    "another query": {"redirect_uri": f"{CALLBACK}?x=1"},
    "another case": {"redirect_uri": CALLBACK.upper()},
    "another port": {"redirect_uri": CALLBACK.replace("invalid/", "invalid:444/")},
    "a fragment": {"redirect_uri": f"{CALLBACK}#here"},
    "a relative address": {"redirect_uri": "/callback"},
    "a script": {"redirect_uri": "javascript:alert(1)"},
    "NUL": {"state": "a\0b"},
    "NUL in the application": {"client_id": "a\0b"},
}


@pytest.mark.parametrize(("changes", "error"), REDIRECTED.values(), ids=REDIRECTED)
def test_invalid_request_redirects_to_the_application_with_the_error(
    changes: dict[str, str | None], error: str
) -> None:
    application = Application()

    parameters = read_redirect_parameters(
        Browser(make_member()).client.get(application.build_authorization_url(**changes))
    )

    assert parameters["error"] == error
    assert parameters["iss"] == "http://testserver"
    assert parameters.get("state") == (changes.get("state") or application.state)


@pytest.mark.parametrize("changes", SHOWN.values(), ids=SHOWN)
def test_request_without_a_trusted_redirect_uri_is_400_without_a_redirect(changes: dict[str, str | None]) -> None:
    response = Browser(make_member()).client.get(Application().build_authorization_url(**changes))

    assert response.status_code == 400
    assert "Location" not in response
    assert "This cannot go on" in response.content.decode()


def test_repeated_parameter_is_400() -> None:
    application = Application()

    response = Browser(make_member()).client.get(
        f"{application.build_authorization_url()}&client_id={application.registered.client_id}"
    )

    assert response.status_code == 400


def test_user_who_declines_returns_access_denied_and_no_grant() -> None:
    application = Application()

    parameters = read_redirect_parameters(
        Browser(make_member()).submit_consent(application.build_authorization_url(), allow=False)
    )

    assert (parameters["error"], parameters["state"], parameters["iss"]) == (
        "access_denied",
        application.state,
        "http://testserver",
    )
    assert not Grant.objects.exists()


def test_consent_without_a_csrf_token_is_403() -> None:
    browser, application = Browser(make_member()), Application()

    forged = browser.client.post(application.build_authorization_url(), {"allow": "yes"})

    assert forged.status_code == 403
    assert "This form is out of date" in forged.content.decode()
    assert not Grant.objects.exists()


def test_earlier_consent_does_not_skip_the_consent_page() -> None:
    user, application = make_member(), Application()
    application.exchange(Browser(user).obtain_code(application))

    page = Browser(user).client.get(f"{application.build_authorization_url()}&approval_prompt=auto")

    assert page.status_code == 200
    assert "Allow Harbour News" in page.content.decode()


def test_user_without_the_requested_scopes_cannot_consent() -> None:
    browser, application = Browser(make_member("reader")), Application()
    address = application.build_authorization_url(scope="posts:write")

    assert 'value="yes"' not in browser.client.get(address).content.decode()
    assert read_redirect_parameters(browser.submit_consent(address, allow=True))["error"] == "invalid_scope"
