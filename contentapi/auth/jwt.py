"""Sign and verify JWTs: access tokens by RFC 7519 (JWT), 7515 (JWS), 9068 (access tokens) and 8725 (best practices).

python-jose accepts much that these forbid, so this module uses it only to verify one signature with one key and that
key's algorithm. It checks everything else itself. Only this module and `jwk` import python-jose
(docs/decisions/0025-jwt-library.md).
"""

import base64
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from jose import jws
from jose.exceptions import JOSEError

from contentapi.auth.jwk import Key, encode_base64url
from contentapi.conf.timeouts import CLOCK_LEEWAY, MAX_IAT_LEAD, TOKEN_MAX_LIFETIME
from contentapi.core.caching import BoundedCache
from contentapi.core.unicode import is_storable
from contentapi.http.body import build_object_without_duplicates

MAX_TOKEN = 8 * 1024  # characters
TYPES = ("at+jwt", "application/at+jwt")
REFUSED_HEADERS = frozenset({"crit", "b64", "jku", "jwk", "x5u", "x5c", "zip"})

# `verify` ensures that `iss`, `sub`, `jti` and each `aud` are storable text, and that `exp` and `iat` are numbers.
Claims = Mapping[str, Any]
FindKey = Callable[[str | None], Key | None]  # by the id of a key; None for tokens without `kid`


class TokenError(Exception):
    """An invalid token. The message is for logs and tests: it contains no part of the token, and no client sees it."""


def encode(claims: Mapping[str, Any], key: Key) -> str:
    payload = json.dumps(claims, separators=(",", ":"), allow_nan=False).encode()
    return str(jws.sign(payload, key.signer, {"typ": TYPES[0], "kid": key.kid}, key.algorithm))


def verify(
    token: object, find_key: FindKey, *, is_issuer: Callable[[str], bool], audience: str, now: float | None = None
) -> Claims:
    """Return the claims of a valid token. Raises `TokenError` for any other input, and nothing else.

    `now` is in seconds since 1970. A token expires at `exp` (RFC 7519, section 4.1.4) by a clock that may be
    `CLOCK_LEEWAY` ahead of ours: it is invalid from `now == exp + CLOCK_LEEWAY` on.
    """
    now = time.time() if now is None else now
    cached = VERIFIED_TOKENS.get(token) if isinstance(token, str) and len(token) <= MAX_TOKEN else None
    if cached and cached.is_valid(now, find_key, is_issuer, audience):
        return cached.claims
    with convert_to_token_error():
        header = parse_header(token)
    key = find_key(header.get("kid"))
    if key is None:
        raise TokenError("no such key")
    with convert_to_token_error():
        claims = verify_signature(str(token), header, key)
        check_times(claims, now)
        check_identity_claims(claims, is_issuer, audience)
        valid_from = max(int(claims["iat"]) - MAX_IAT_LEAD, int(claims.get("nbf", 0)) - CLOCK_LEEWAY)
        valid_until = int(claims["exp"]) + CLOCK_LEEWAY
        claims = MappingProxyType(claims)
        verified = VerifiedToken(claims, header.get("kid"), key, valid_from, valid_until, len(str(token)))
        VERIFIED_TOKENS.put(str(token), verified)
    return claims


class VerifiedToken(NamedTuple):
    """A token whose signature has been verified, with what decides whether it is still valid. Times as in `verify`."""

    claims: Claims
    kid: str | None
    key: Key
    valid_from: int
    valid_until: int
    length: int

    def is_valid(self, now: float, find_key: FindKey, is_issuer: Callable[[str], bool], audience: str) -> bool:
        return (
            self.valid_from <= now < self.valid_until
            and find_key(self.kid) is self.key
            and audience in list_audiences(self.claims)
            and is_issuer(self.claims["iss"])
        )


# Parsing and verifying a token takes longer than the rest of a small request. Only tokens that one of our keys has
# signed are stored. A token weighs its text and its claims, which take about four times as much memory.
VERIFIED_TOKENS: BoundedCache[VerifiedToken] = BoundedCache(
    4 * 1024 * 1024, weigh=lambda verified: 1000 + 5 * verified.length, name="tokens"
)


@contextmanager
def convert_to_token_error() -> Iterator[None]:
    """Convert every other exception to `TokenError`: RecursionError, OverflowError, those of python-jose."""
    try:
        yield
    except TokenError:
        raise
    except Exception as error:  # noqa: BLE001 - an invalid token is 401, never 500
        raise TokenError(f"unreadable: {type(error).__name__}") from None


def parse_header(token: object) -> dict[str, Any]:
    """Return the header of a well-formed token. Raises `TokenError`."""
    if not isinstance(token, str):
        raise TokenError("not text")
    if len(token) > MAX_TOKEN:
        raise TokenError("too long")
    parts = token.split(".")
    if len(parts) != 3:
        raise TokenError("not three parts")
    header, _, _ = map(decode_base64url, parts)
    members = decode_json_object(header)
    if members.keys() & REFUSED_HEADERS:
        raise TokenError("a header parameter that access tokens must not have")
    if not isinstance(members.get("kid", ""), str):
        raise TokenError("kid is not text")
    if str(members.get("typ")).lower() not in TYPES:
        raise TokenError("typ is not at+jwt")
    return members


def verify_signature(token: str, header: Mapping[str, Any], key: Key) -> Claims:
    """Return the claims that this key has signed with its algorithm. Raises `TokenError`."""
    if header.get("alg") != key.algorithm:
        raise TokenError("alg is not the key's")
    try:
        payload = jws.verify(token, key.verifier, algorithms=[key.algorithm])
    except JOSEError:
        raise TokenError("signature is wrong") from None
    return decode_json_object(payload)


def check_times(claims: Claims, now: float) -> None:
    issued, expires = parse_numeric_date(claims, "iat"), parse_numeric_date(claims, "exp")
    if now >= expires + CLOCK_LEEWAY:
        raise TokenError("expired")
    if issued > now + MAX_IAT_LEAD:
        raise TokenError("iat is in the future")
    if expires > issued + TOKEN_MAX_LIFETIME:
        raise TokenError("lifetime is too long")
    if "nbf" in claims and parse_numeric_date(claims, "nbf") > now + CLOCK_LEEWAY:
        raise TokenError("nbf is in the future")


def check_identity_claims(claims: Claims, is_issuer: Callable[[str], bool], audience: str) -> None:
    texts = {name: [claims.get(name)] for name in ("iss", "sub", "jti")} | {"aud": list_audiences(claims)}
    for name, values in texts.items():
        if not all(isinstance(value, str) and value and is_storable(value) for value in values):
            raise TokenError(f"{name} is missing, or not text")
    if audience not in texts["aud"]:
        raise TokenError("aud is different")
    if not is_issuer(claims["iss"]):
        raise TokenError("iss is different")


def list_audiences(claims: Claims) -> list[Any]:
    """Return the audiences: `aud` is one, or an array (RFC 7519, section 4.1.3)."""
    audiences = claims.get("aud")
    return audiences if isinstance(audiences, list) else [audiences]


def parse_numeric_date(claims: Claims, name: str) -> int:
    """Return a NumericDate in whole seconds. A bool and a text of digits are not numbers. Raises `TokenError`."""
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TokenError(f"{name} is missing, or not a number")
    return int(value)


def decode_base64url(part: str) -> bytes:
    """Decode one part of a token. Raises `TokenError` unless it is the canonical encoding of its bytes."""
    content = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    if encode_base64url(content) != part:
        raise TokenError("base64url is not canonical")
    return content


def decode_json_object(content: bytes) -> dict[str, Any]:
    """Decode a JSON object in UTF-8, strictly by RFC 8259 and RFC 7515, section 4. Raises `TokenError`."""
    value = DECODER.decode(content.decode())
    if not isinstance(value, dict):
        raise TokenError("not an object")
    return value


def refuse_nan_and_infinity(_: str) -> NoReturn:
    raise TokenError("NaN or Infinity")


DECODER = json.JSONDecoder(object_pairs_hook=build_object_without_duplicates, parse_constant=refuse_nan_and_infinity)
