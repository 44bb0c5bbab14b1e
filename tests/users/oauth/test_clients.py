"""Registration of applications: names and redirect URIs, by command and in the admin."""

import pytest
from django.test import Client
from oauth2_provider.models import Application

from contentapi.core.errors import Invalid
from tests.users.command_runs import run_command
from tests.users.oauth.client_forms import change_application, open_form, submit_application
from tests.users.oauth.flow import CALLBACK
from tests.users.oauth.flow import Application as OAuthApplication
from users.oauth.clients import register_client

WRONG = [
    "http://app.example.invalid/callback",
    "app.example.invalid/callback",
    "//app.example.invalid/callback",
    "/callback",
    "https:///callback",
    "https://app.example.invalid/call back",
    "https://app.example.invalid/callback#here",
    "https://user@app.example.invalid/callback",
    "https://*.example.invalid/callback",
    "https://app.example.invalid/*",
    "https://app.example.invalid/callback?next=*",
    "https://evil.example.invalid\\.app.example.invalid/",
    "https://app.example.invalid;script-src/callback",
    "https://app.example.invalid/callback?iss=https%3A%2F%2Fother.invalid",
    "https://app.example.invalid/callback?code=",
    "https://app.example.invalid/<script>",
    "https://app.example.invalid:port/callback",
    "https://[::1/callback",
    "https://äpp.example.invalid/callback",
    "https://app.example.invalid/\0",
    "javascript:alert(1)",
    f"https://app.example.invalid/{'x' * 2000}",
    "",
]


@pytest.mark.parametrize("uri", WRONG)
def test_redirect_uri_other_than_absolute_https_is_rejected(uri: str) -> None:
    with pytest.raises(Invalid) as raised:
        register_client(name="App", redirect_uris=[CALLBACK, uri])

    assert set(raised.value.fields) == {"redirect_uri"}
    assert not Application.objects.exists()


@pytest.mark.parametrize("name", ["", "   ", "x" * 101, "a\0b", "\udcff"])
def test_invalid_application_name_is_rejected(name: str) -> None:
    with pytest.raises(Invalid) as raised:
        register_client(name=name, redirect_uris=[CALLBACK])

    assert set(raised.value.fields) == {"name"}


def test_command_prints_the_client_id_and_the_secret() -> None:
    client_id, secret = run_command("create_oauth_client", "App", "--redirect-uri", CALLBACK)[0].splitlines()

    assert Application.objects.get().client_id == client_id
    assert len(secret) == 43


def test_admin_index_lists_no_codes_and_no_access_tokens(admin_client: Client) -> None:
    page = admin_client.get("/admin/").content.decode()

    assert "oauth2_provider/application" in page
    assert "oauth2_provider/refreshtoken" in page
    for hidden in ("grant", "accesstoken", "idtoken"):
        assert f"oauth2_provider/{hidden}" not in page


def test_form_shows_the_values_that_are_saved(admin_client: Client) -> None:
    submit_application(admin_client, name="  App ", redirect_uris=f" {CALLBACK}\r\n\r\n  {CALLBACK}/2 ")
    client = Application.objects.get()

    saved = change_application(admin_client, client, name=" Harbour  News ")
    shown = open_form(admin_client, client)

    client.refresh_from_db()
    assert client.redirect_uris.split() == [CALLBACK, f"{CALLBACK}/2"]
    assert shown["redirect_uris"].split("\r\n") == [CALLBACK, f"{CALLBACK}/2"]
    assert (shown["name"], client.name) == ("Harbour  News", "Harbour  News")
    assert shown["client_type"] == client.client_type == "confidential"
    assert "“Harbour  News” was saved." in saved.text
    without_effect = {"client_secret", "authorization_grant_type", "skip_authorization", "algorithm", "user"}
    assert not without_effect & shown.keys()


@pytest.mark.parametrize(
    ("uris", "message"),
    [
        ("", "Name at least one, such as https://app.example.com/callback."),
        ("http://app.example.com/", "Write it like https://app.example.com/callback."),
        (f"{CALLBACK} {CALLBACK}", "Each redirect URI must be there once."),
    ],
)
def test_wrong_redirect_uri_is_refused_with_what_to_write_instead(
    admin_client: Client, uris: str, message: str
) -> None:
    application = OAuthApplication()
    client = Application.objects.get()

    response = change_application(admin_client, client, redirect_uris=uris)

    assert message in response.text
    client.refresh_from_db()
    assert client.redirect_uris == CALLBACK
    assert client.client_id == application.registered.client_id
