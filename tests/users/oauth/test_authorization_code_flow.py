"""The successful authorization code flow with PKCE (RFC 6749, section 4.1; RFC 7636; RFC 9700)."""

import base64
import json
import re
from urllib.parse import urlsplit

import pytest
from django.test import Client
from pytest_django import Settings

from blog.models import Post
from tests.users.oauth.flow import (
    PASSWORD,
    Application,
    Browser,
    find_next_path,
    make_member,
    query_api,
    read_redirect_parameters,
)
from users import tokens

WRITE = 'mutation { createPost(input: {title: "By an application", body: ""}) { author { name } } }'


def test_authorization_code_flow_from_login_to_revocation() -> None:
    user, browser, application = make_member(), Browser(), Application()
    address = application.build_authorization_url()

    to_login = browser.client.get(address)
    assert to_login.status_code == 302
    assert to_login["Location"].startswith("/oauth/login?next=")

    back = browser.log_in(to_login["Location"], user.email.upper(), PASSWORD)
    assert (back.status_code, back["Location"]) == (302, find_next_path(to_login["Location"])) == (302, address)

    page = browser.client.get(address).content.decode()
    assert "Allow Harbour News to act for you?" in page
    assert "Write, change and delete posts" in page
    assert "Place, pay and cancel orders" not in page

    parameters = read_redirect_parameters(browser.submit_consent(address, allow=True))
    assert set(parameters) == {"code", "state", "iss"}
    assert (parameters["state"], parameters["iss"]) == (application.state, "http://testserver")

    exchanged = application.exchange(parameters["code"])
    assert exchanged.status_code == 200
    assert exchanged["Cache-Control"] == "no-store"
    granted = json.loads(exchanged.content)
    assert (granted["token_type"], granted["expires_in"]) == ("Bearer", 600)
    assert set(granted["scope"].split()) == {"posts:read", "posts:write", "posts:publish"}

    assert json.loads(query_api(granted["access_token"], WRITE).content) == {
        "data": {"createPost": {"author": {"name": "Mara Member"}}}
    }
    assert Post.objects.filter(title="By an application").exists()

    refreshed = json.loads(application.refresh(granted["refresh_token"]).content)
    assert refreshed["refresh_token"] != granted["refresh_token"]
    assert query_api(refreshed["access_token"]).status_code == 200
    assert query_api(granted["access_token"]).status_code == 401

    revoked = application.post("/oauth/revoke", token=refreshed["refresh_token"])
    assert revoked.status_code == 200
    assert query_api(refreshed["access_token"]).status_code == 401
    assert application.refresh(refreshed["refresh_token"]).status_code == 400


def test_access_token_is_a_jwt_with_the_claims_of_the_grant() -> None:
    user, application = make_member("reader"), Application()
    code = Browser(user).obtain_code(application, scope="comments:write orders:read")

    granted = json.loads(application.exchange(code).content)

    claims = tokens.read_claims(granted["access_token"])
    assert claims is not None
    assert (claims["sub"], claims["role"], claims["scope"]) == (str(user.pk), "reader", "comments:write orders:read")
    assert claims["client_id"] == application.registered.client_id
    assert claims["exp"] - claims["iat"] == 600


def test_public_application_needs_no_secret() -> None:
    application = Application(public=True)

    exchanged = application.exchange(Browser(make_member()).obtain_code(application))

    assert application.registered.secret == ""
    assert exchanged.status_code == 200


def test_secret_in_the_form_is_accepted() -> None:
    application = Application()
    code = Browser(make_member()).obtain_code(application)

    exchanged = application.exchange(code, secret="", client_secret=application.registered.secret)

    assert exchanged.status_code == 200


def test_request_without_a_scope_grants_all_scopes_of_the_role() -> None:
    application = Application()

    granted = application.exchange(Browser(make_member("reader")).obtain_code(application, scope=None)).json()

    assert set(granted["scope"].split()) == {
        "authors:read", "comments:write", "events:read", "orders:read", "orders:write", "users:read", "users:write",
    }  # fmt: skip


def test_scope_outside_of_the_role_is_not_granted() -> None:
    application = Application()

    code = Browser(make_member("reader")).obtain_code(application, scope="posts:write orders:read")

    assert application.exchange(code).json()["scope"] == "orders:read"


def test_refresh_may_request_fewer_scopes() -> None:
    application = Application()
    granted = json.loads(application.exchange(Browser(make_member()).obtain_code(application)).content)

    refreshed = json.loads(application.refresh(granted["refresh_token"], scope="posts:read").content)

    assert refreshed["scope"] == "posts:read"


def test_metadata_lists_the_endpoints_and_supported_methods() -> None:
    response = Client().get("/.well-known/oauth-authorization-server")

    assert response.status_code == 200
    metadata = response.json()
    methods = ["client_secret_basic", "client_secret_post", "none"]
    assert metadata["issuer"] == "http://testserver"
    assert metadata["authorization_endpoint"] == "http://testserver/oauth/authorize"
    assert metadata["token_endpoint"] == "http://testserver/oauth/token"
    assert metadata["revocation_endpoint"] == "http://testserver/oauth/revoke"
    assert metadata["introspection_endpoint"] == "http://testserver/oauth/introspect"
    assert metadata["jwks_uri"] == "http://testserver/.well-known/jwks.json"
    assert metadata["response_types_supported"] == ["code"]
    assert metadata["grant_types_supported"] == ["authorization_code", "refresh_token"]
    assert metadata["code_challenge_methods_supported"] == ["S256"]
    assert metadata["token_endpoint_auth_methods_supported"] == methods
    assert metadata["authorization_response_iss_parameter_supported"] is True
    assert "posts:publish" in metadata["scopes_supported"]
    assert Client().get("/.well-known/jwks.json").status_code == 200


def test_metadata_of_the_api_names_its_authorization_server_and_its_audience() -> None:
    response = Client().get("/.well-known/oauth-protected-resource")
    metadata = response.json()
    server = Client().get("/.well-known/oauth-authorization-server").json()
    application = Application()
    granted = json.loads(application.exchange(Browser(make_member()).obtain_code(application)).content)
    payload = granted["access_token"].split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))

    assert metadata == {
        "resource": "http://testserver",
        "authorization_servers": ["http://testserver"],
        "scopes_supported": server["scopes_supported"],
        "bearer_methods_supported": ["header"],
        "resource_name": "Content API",
        "resource_documentation": "http://testserver/docs",
        "audience": claims["aud"],
    }
    assert metadata["authorization_servers"] == [claims["iss"]] == [server["issuer"]]
    assert server["protected_resources"] == [metadata["resource"]]


@pytest.mark.parametrize(("public_url", "host"), [("", "localhost:8123"), ("https://api.example.com", "localhost")])
@pytest.mark.parametrize("path", ["/graphql?query={__typename}", "/posts", "/v1/posts"])
def test_refused_request_leads_to_the_metadata_of_the_api(
    settings: Settings, public_url: str, host: str, path: str
) -> None:
    settings.PUBLIC_URL = public_url
    client = Client(headers={"Host": host})

    challenge = client.get(path, headers={"Authorization": "Bearer no token"})["WWW-Authenticate"]
    [address] = re.findall(r'resource_metadata="([^"]+)"', challenge)
    metadata = client.get(urlsplit(address).path).json()

    assert address == f"{public_url or f'http://{host}'}/.well-known/oauth-protected-resource"
    assert metadata["resource"] == address.removesuffix("/.well-known/oauth-protected-resource")
