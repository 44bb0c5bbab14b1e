"""Claims, keys and forged tokens for the tests of JWTs."""

import base64
import hmac
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization

from contentapi.auth.jwk import Key
from contentapi.auth.jwt import Claims, TokenError, verify

NOW = 1_800_000_000
ISSUER = "https://api.example.invalid"
RSA = Key.generate()
OTHER = Key.generate()
SECRET = b"a secret of thirty-two bytes, at least"
SHARED = Key.from_secret(SECRET)
KEYS = {RSA.kid: RSA, SHARED.kid: SHARED, None: SHARED}
CLAIMS = {"iss": ISSUER, "aud": "contentapi", "sub": "7", "iat": NOW, "exp": NOW + 600, "jti": "one"}


def verify_token(token: Any, *, now: float = NOW, keys: Any = KEYS) -> Claims:
    return verify(token, keys.get, is_issuer=ISSUER.__eq__, audience="contentapi", now=now)


def get_rejection_reason(token: Any, **options: Any) -> str:
    """Return why a token is rejected."""
    with pytest.raises(TokenError) as raised:
        verify_token(token, **options)
    return str(raised.value)


def forge_token(header: dict[str, Any] | str, payload: dict[str, Any] | str, key: Any = RSA.signer) -> str:
    """Return a token with exactly this header and payload and a valid signature, HS256 if the key is bytes."""
    texts = (part if isinstance(part, str) else json.dumps(part) for part in (header, payload))
    signed = ".".join(base64url(text.encode(errors="surrogatepass")) for text in texts)
    signature = hmac.digest(key, signed.encode(), "sha256") if isinstance(key, bytes) else key.sign(signed.encode())
    return f"{signed}.{base64url(signature)}"


def base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def build_header(**members: Any) -> dict[str, Any]:
    return {"alg": "RS256", "typ": "at+jwt", "kid": RSA.kid} | members


def omit(members: dict[str, Any], name: str) -> dict[str, Any]:
    return {other: value for other, value in members.items() if other != name}


def get_public_forms() -> dict[str, bytes]:
    public = RSA.verifier.prepared_key
    pem, der = serialization.Encoding.PEM, serialization.Encoding.DER
    info, pkcs1 = serialization.PublicFormat.SubjectPublicKeyInfo, serialization.PublicFormat.PKCS1
    return {
        "PEM": public.public_bytes(pem, info),
        "PEM without its last line break": public.public_bytes(pem, info).rstrip(),
        "PKCS1 PEM": public.public_bytes(pem, pkcs1),
        "DER": public.public_bytes(der, info),
        "PKCS1 DER": public.public_bytes(der, pkcs1),
        "JWK": json.dumps(RSA.public_jwk).encode(),
    }
