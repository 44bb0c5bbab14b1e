"""No request to the authorization server causes a server error or reveals internals."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.admin_forms import log_in
from tests.thoroughness import scale_examples
from tests.users.oauth.flow import CALLBACK, Application, make_member

NAMES = [
    "client_id", "client_secret", "redirect_uri", "response_type", "response_mode", "scope", "state", "code",
    "code_challenge", "code_challenge_method", "code_verifier", "grant_type", "refresh_token", "token", "prompt",
    "token_type_hint", "nonce", "claims", "request", "client", "user", "scopes", "approval_prompt", "resource",
]  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["code", "S256", "plain", "authorization_code", "refresh_token", "password", "posts:read", CALLBACK, "\0", "{}",
         "none", "login", "create", "none login", "x" * 5000, "é", "%", "a.b.c", "-1", "1e400", "[]"]
    ),
)  # fmt: skip
FORMS = st.dictionaries(st.one_of(st.sampled_from(NAMES), st.text(max_size=5)), TEXTS, max_size=8)
HEADERS: st.SearchStrategy[dict[str, str]] = st.one_of(
    st.just({}),
    st.sampled_from(["Basic", "Basic x", "Basic Og==", "Basic ADo=", "Bearer x", "Basic /////w==", "Basic é"]).map(
        lambda text: {"HTTP_AUTHORIZATION": text}
    ),
)
CAREFUL = settings(
    max_examples=scale_examples(300), deadline=None, suppress_health_check=list(HealthCheck)
)  # the database is rolled back after all examples, which changes nothing for them


def assert_no_server_error(response: Any, sent: str = "") -> None:
    """Assert that a response is not a server error and shows no internals that the request did not contain."""
    assert response.status_code < 500, response.content
    for leak in ("Traceback", "psycopg", "SELECT", ".py"):
        assert leak.encode() not in response.content or leak in sent


@pytest.mark.property
@CAREFUL
@given(form=FORMS, known=st.booleans(), headers=HEADERS)
@pytest.mark.parametrize("path", ["token", "revoke", "introspect"])
def test_any_form_at_an_endpoint_is_handled_without_a_server_error(
    *, path: str, form: dict[str, str], known: bool, headers: dict[str, str]
) -> None:
    application = Application(public=True)
    body = urlencode({"client_id": application.registered.client_id, **form} if known else form, errors="surrogatepass")

    response = Client().post(f"/oauth/{path}", body, "application/x-www-form-urlencoded", **headers)  # type: ignore[arg-type]

    assert_no_server_error(response, body)


@pytest.mark.property
@CAREFUL
@given(form=FORMS, known=st.booleans(), posted=st.booleans())
@example(form={"self": "*.py"}, known=True, posted=False)  # hypothesis also tries literals of our code
def test_any_authorization_request_is_handled_without_a_server_error(
    *, form: dict[str, str], known: bool, posted: bool
) -> None:
    browser = log_in(make_member())
    address = Application().build_authorization_url(**form) if known else f"/oauth/authorize?{urlencode(form)}"

    response = browser.post(address, {"allow": "yes", **form}) if posted else browser.get(address)

    assert_no_server_error(response, urlencode(form))


@pytest.mark.parametrize("body", [b"\xff\xfe", b"%", b"a=%zz", b"=&=&", b"a" * 2_000_000, b"&" * 100_000])
@pytest.mark.parametrize("path", ["token", "revoke", "introspect"])
def test_any_bytes_at_an_endpoint_are_rejected_without_a_server_error(path: str, body: bytes) -> None:
    response = Client().generic("POST", f"/oauth/{path}", body, "application/x-www-form-urlencoded")

    assert_no_server_error(response)
    assert response.status_code >= 400
