"""Applications on a device: loopback redirect URIs and private-use schemes (RFC 8252)."""

from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from oauth2_provider.models import Application as Registration

from contentapi.core.errors import Invalid
from tests.users.command_runs import run_command
from tests.users.oauth.client_forms import change_application, submit_application
from tests.users.oauth.flow import Application, Browser, make_member
from users.oauth.clients import allows_redirect_uri, register_client

LOOPBACK = "http://127.0.0.1/callback"
NATIVE = [
    LOOPBACK,
    "http://127.0.0.1:8080/callback?app=1",
    "http://[::1]/callback",
    "http://localhost:3000/callback",
    "com.example.app:/callback",
    "com.example.app://callback",
    "org.example.harbour-news:/oauth/callback",
]
NOT_NATIVE = [
    "http://127.0.0.1",
    "http://127.0.0.2/callback",
    "http://user@127.0.0.1/callback",
    "http://127.0.0.1/callback#here",
    "http://127.0.0.1/callback?code=1",
    "http://0.0.0.0/callback",
    "http://localhost.example.invalid/callback",
    "https://127.0.0.1:port/callback",
    "https://127.0.0.1:0/callback",
    "https://../callback",
    "http://[::1]example.invalid:5/callback",
    "http://127.0.0.1:0/callback",
    "http://127.0.0.1:/callback",
    "myapp:/callback",
    "javascript:/callback",
    "javascript.example.app://callback",
    "com.example.app:callback",
    "com.example.:/callback",
    "com.example-:/callback",
    "com.example.app:/*",
    "com.example.app:/call back",
    "com.example.app:/callback?iss=1",
]


@pytest.mark.parametrize("uri", NATIVE)
def test_public_client_may_have_the_redirect_uri_of_an_application_on_a_device(uri: str) -> None:
    registered = register_client(name="App", redirect_uris=[uri], public=True)

    assert Registration.objects.get(client_id=registered.client_id).redirect_uris == uri


@pytest.mark.parametrize("uri", NATIVE)
def test_confidential_client_may_not(uri: str) -> None:
    with pytest.raises(Invalid) as raised:
        register_client(name="App", redirect_uris=[uri])

    assert "only a public client may have it" in raised.value.message


@pytest.mark.parametrize("uri", NOT_NATIVE)
def test_other_uris_are_refused_for_public_clients_too(uri: str) -> None:
    with pytest.raises(Invalid):
        register_client(name="App", redirect_uris=[uri], public=True)


@pytest.mark.parametrize("uri", ["http://127.0.0.1:8080/callback?app=1", "com.example.app://callback"])
def test_application_on_a_device_gets_tokens(uri: str) -> None:
    application = Application(public=True, redirect_uri=uri)
    page = application.build_authorization_url(redirect_uri=uri)

    redirection = Browser(make_member()).submit_consent(page, allow=True)
    parameters = parse_qs(urlsplit(redirection["Location"]).query)
    exchanged = application.exchange(parameters["code"][0], redirect_uri=uri)

    assert redirection.status_code == 302
    assert redirection["Location"].startswith(uri)
    assert parameters["state"] == [application.state]
    assert exchanged.status_code == 200


@pytest.mark.parametrize("registered", ["http://127.0.0.1/callback", "http://127.0.0.1:8080/callback"])
def test_port_of_a_loopback_uri_is_chosen_at_each_start(registered: str) -> None:
    application = Application(public=True, redirect_uri=registered)
    uri = "http://127.0.0.1:49152/callback"

    page = application.build_authorization_url(redirect_uri=uri)
    redirection = Browser(make_member()).submit_consent(page, allow=True)
    code = parse_qs(urlsplit(redirection["Location"]).query)["code"][0]
    with_other_port = application.exchange(code, redirect_uri="http://127.0.0.1:49153/callback")
    exchanged = application.exchange(code, redirect_uri=uri)

    assert redirection["Location"].startswith(f"{uri}?")
    assert (with_other_port.status_code, exchanged.status_code) == (400, 200)


@pytest.mark.parametrize(
    "uri",
    [
        "http://127.0.0.1:49152/other",
        "http://127.0.0.1:49152/callback?next=1",
        "http://[::1]:49152/callback",
        "http://localhost:49152/callback",
        "http://127.0.0.1:49152/callback#here",
        "http://user@127.0.0.1:49152/callback",
        "http://127.0.0.1:49152@evil.example.invalid/callback",
        "http://127.0.0.1:0x50/callback",
        "http://127.0.0.1:0/callback",
        "http://127.0.0.1:00080/callback",
        "http://127.0.0.1:/callback",
        "http://127.0.0.1:49152/callback?",
        "HTTP://127.0.0.1:49152/callback",
        "http://127.0.0.1:49152.evil.example.invalid/callback",
        "http://[127.0.0.1]evil.example.invalid:5/callback",
        "https://127.0.0.1:49152/callback",
        "HTTP://127.0.0.1.evil.example.invalid/callback",
        "com.example.app:/callback",
        "",
    ],
)
def test_everything_but_the_port_must_match(uri: str) -> None:
    application = Application(public=True, redirect_uri=LOOPBACK)
    client = Registration.objects.get(client_id=application.registered.client_id)

    refused = Client().get(application.build_authorization_url(redirect_uri=uri))

    assert not allows_redirect_uri(client, uri)
    assert refused.status_code == 400
    assert "Location" not in refused


@pytest.mark.parametrize(
    ("uri", "source", "target"),
    [
        ("http://127.0.0.1:49152/callback", "http://127.0.0.1:49152", "127.0.0.1:49152"),
        ("http://[::1]:49152/callback", "http:", "[::1]:49152"),
        ("com.example.app:/callback", "com.example.app:", "an application on this device (com.example.app)"),
    ],
)
def test_consent_page_names_where_the_user_goes_and_allows_only_that(uri: str, source: str, target: str) -> None:
    application = Application(public=True, redirect_uri=uri)

    page = Browser(make_member()).client.get(application.build_authorization_url(redirect_uri=uri))

    assert page["Content-Security-Policy"].endswith(f"; form-action 'self' {source}")
    assert f"you go on to {target}." in page.content.decode()


def test_command_warns_of_localhost() -> None:
    uris = ["--redirect-uri", "http://localhost/callback", "--redirect-uri", LOOPBACK]

    out, err = run_command("create_oauth_client", "App", "--public", *uris)

    assert out.split() == [Registration.objects.get().client_id]
    assert err.count("Prefer 127.0.0.1") == 1


def test_admin_page_registers_a_native_application_and_warns_of_localhost(admin_client: Client) -> None:
    uris = "http://localhost/callback\r\ncom.example.app:/callback"

    refused = submit_application(admin_client, redirect_uris=uris)
    saved = submit_application(admin_client, redirect_uris=uris, client_type="public")

    assert "only a public client may have it" in refused.text
    assert "Prefer 127.0.0.1" in saved.text
    assert Registration.objects.get().redirect_uris == "http://localhost/callback com.example.app:/callback"


def test_application_with_a_native_uri_cannot_become_confidential(admin_client: Client) -> None:
    register_client(name="App", redirect_uris=[LOOPBACK], public=True)
    row = Registration.objects.get()

    page = change_application(admin_client, row, client_type="confidential")

    assert "only a public client may have it" in page.text
    row.refresh_from_db()
    assert row.client_type == "public"
