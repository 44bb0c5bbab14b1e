"""Authlib's OAuth 2.0 sessions: authorization code with PKCE, automatic refresh, introspection, revocation."""

import os
import sys

import httpx
from authlib.common.security import generate_token
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata

sys.path.insert(0, "..")
from prove import browse, prove

API = os.environ["API_URL"]
REDIRECT_URI = os.environ["OAUTH_REDIRECT_URI"]
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "true"  # the server under test has no certificate
metadata = AuthorizationServerMetadata(httpx.get(f"{API}/.well-known/oauth-authorization-server").json())


def authorize(client_id: str, secret: str | None, **options: object) -> OAuth2Client:
    """Return a session that has a token."""
    session = OAuth2Client(
        client_id,
        secret,
        scope="posts:read posts:write",
        redirect_uri=REDIRECT_URI,
        code_challenge_method="S256",
        token_endpoint=metadata["token_endpoint"],
        **options,
    )
    verifier = generate_token(48)
    address, state = session.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier)
    session.fetch_token(authorization_response=browse(address), code_verifier=verifier, state=state)
    return session


with prove("confidential client: code with PKCE; refreshes an expired token by itself; introspects and revokes it"):
    assert metadata["code_challenge_methods_supported"] == ["S256"]
    session = authorize(os.environ["OAUTH_CLIENT_ID"], os.environ["OAUTH_CLIENT_SECRET"])
    first = session.token["access_token"]
    assert session.get(f"{API}/posts").status_code == 200
    session.token["expires_at"] = 1
    created = session.post(f"{API}/posts", json={"title": "By Authlib", "body": "Text"})
    assert created.status_code == 201
    assert session.token["access_token"] != first
    assert session.delete(f"{API}{created.headers['Location']}").status_code == 204
    token = session.token["refresh_token"]
    access = session.token["access_token"]
    assert session.introspect_token(metadata["introspection_endpoint"], token=access).json()["active"] is True
    assert session.revoke_token(metadata["revocation_endpoint"], token=token).status_code == 200
    try:
        session.refresh_token(metadata["token_endpoint"], refresh_token=token)
    except OAuthError as error:
        assert error.error == "invalid_grant"
    else:
        raise AssertionError("A revoked token was refreshed.")

with prove("public client: code with PKCE and no secret"):
    public = authorize(os.environ["OAUTH_PUBLIC_CLIENT_ID"], None, token_endpoint_auth_method="none")
    assert public.token["token_type"].lower() == "bearer"
    assert public.get(f"{API}/posts").status_code == 200
