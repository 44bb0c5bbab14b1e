"""PyJWT: verifies a bearer token with the keys and the metadata that the server publishes."""

import os
import sys

import httpx
import jwt

sys.path.insert(0, "..")
from prove import prove

API, TOKEN = os.environ["API_URL"], os.environ["ACCESS_TOKEN"]

issuer = httpx.get(f"{API}/.well-known/oauth-authorization-server").json()["issuer"]
audience = httpx.get(f"{API}/.well-known/oauth-protected-resource").json()["audience"]
key = jwt.PyJWKClient(f"{API}/.well-known/jwks.json").get_signing_key_from_jwt(TOKEN)

with prove("verifies a bearer token with PyJWKClient, and the issuer and audience of the metadata"):
    claims = jwt.decode(TOKEN, key, algorithms=["RS256"], audience=audience, issuer=issuer)
    assert claims["role"] == "editor"
    assert "posts:read" in claims["scope"].split()

with prove("refuses a changed signature, another audience and another issuer"):
    start, _, signature = TOKEN.rpartition(".")
    other = ("A" if signature[0] != "A" else "B") + signature[1:]
    for token, options, error in (
        (f"{start}.{other}", {"audience": audience, "issuer": issuer}, jwt.InvalidSignatureError),
        (TOKEN, {"audience": "other", "issuer": issuer}, jwt.InvalidAudienceError),
        (TOKEN, {"audience": audience, "issuer": "https://other.example"}, jwt.InvalidIssuerError),
    ):
        try:
            jwt.decode(token, key, algorithms=["RS256"], **options)
        except error:
            continue
        raise AssertionError(f"There was no {error.__name__}.")
