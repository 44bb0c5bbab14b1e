"""Bearer tokens: signed and verified by python-jose, which no other module imports.

python-jose accepts much that it should not ("Traps", section 2), so it is asked one thing only: whether a signature is
that of one key by the one algorithm which this key is for. All else that makes a token good is checked here, by RFC
7519 (JWT), 7515 (JWS), 9068 (access tokens) and 8725 (best practices), strictly.
"""

import base64
import hashlib
import hmac
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn, Protocol

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from jose import jwk, jws
from jose.exceptions import JOSEError

from contentapi.core.caching import BoundedCache
from contentapi.core.text import is_storable

MAX_TOKEN = 8 * 1024  # characters
SHORTEST_SECRET = 32  # bytes
SHORTEST_RSA = 2048  # bits
LONGEST_LIFE = 24 * 3600  # seconds, from `iat` to `exp`
LEEWAY = 30  # seconds that clocks may differ: an `exp` counts so much longer, an `nbf` so much earlier
LATEST_IAT = 60  # seconds that `iat` may lie in the future
TYPES = ("at+jwt", "application/at+jwt")
REFUSED_HEADERS = frozenset({"crit", "b64", "jku", "jwk", "x5u", "x5c", "zip"})

# After `verify` `iss`, `sub`, `aud` and `jti` are text that can be stored, `exp` and `iat` numbers.
Claims = Mapping[str, Any]


class TokenError(Exception):
    """A token that is not good. The reason is for logs and tests: it holds nothing of the token, no client sees it."""


class KeyProblem(ValueError):
    """What cannot be a key, and why; it never repeats the key."""


@dataclass(frozen=True)
class Key:
    """A key under its id, with the one algorithm that it is for. Without `signer` it can only verify."""

    kid: str
    algorithm: str
    verifier: Any = field(repr=False, compare=False)
    signer: Any = field(default=None, repr=False, compare=False)

    @classmethod
    def from_secret(cls, secret: bytes) -> "Key":
        """Return the HS256 key of a secret; its id tells nothing of it. Raises `KeyProblem`."""
        if len(secret) < SHORTEST_SECRET:
            raise KeyProblem(f"must have {SHORTEST_SECRET} bytes or more")
        try:
            shared = jwk.construct(secret, "HS256")  # as an object: as text, what looks like JSON would be parsed
        except JOSEError:
            raise KeyProblem("must be a secret, not a key in PEM or SSH form") from None
        label = hmac.digest(secret, b"contentapi.jwt kid", "sha256").hex()[:16]
        return cls(f"hs-{label}", "HS256", shared, shared)

    @classmethod
    def from_pem(cls, pem: str) -> "Key":
        """Return the RS256 key of one PEM block, private or public. Raises `KeyProblem`."""
        data = pem.encode(errors="replace")
        try:
            if "PRIVATE KEY-----" in pem:
                key: object = serialization.load_pem_private_key(data, password=None)
            else:
                key = serialization.load_pem_public_key(data)
        except TypeError:
            raise KeyProblem("is encrypted, and must not be") from None
        except (ValueError, UnsupportedAlgorithm):
            raise KeyProblem("cannot be read as a key in PEM") from None
        return cls.from_rsa(key)

    @classmethod
    def from_rsa(cls, key: object) -> "Key":
        if not isinstance(key, rsa.RSAPrivateKey | rsa.RSAPublicKey):
            raise KeyProblem("must be an RSA key")
        if key.key_size < SHORTEST_RSA:
            raise KeyProblem(f"must have {SHORTEST_RSA} bits or more, and has {key.key_size}")
        given = jwk.construct(key, "RS256")
        verifier = given.public_key()
        return cls(compute_thumbprint(verifier.to_dict()), "RS256", verifier, None if given.is_public() else given)

    @classmethod
    def generate(cls) -> "Key":
        """Return a new RS256 key, after some 50 milliseconds."""
        return cls.from_rsa(rsa.generate_private_key(public_exponent=65537, key_size=SHORTEST_RSA))

    @property
    def private_pem(self) -> str:
        text: str = self.signer.to_pem().decode()
        return text

    @property
    def public_pem(self) -> str:
        text: str = self.verifier.to_pem().decode()
        return text

    @property
    def public_jwk(self) -> dict[str, str]:
        """Return the public half of an RS256 key as others verify with it (RFC 7517)."""
        public = self.verifier.to_dict()
        return {"kty": "RSA", "kid": self.kid, "use": "sig", "alg": "RS256", "n": public["n"], "e": public["e"]}


class Keys(Protocol):
    """Keys by their ids; under None the key for tokens that name none. A dict will do."""

    def get(self, kid: str | None, /) -> Key | None: ...


def encode(claims: Mapping[str, Any], key: Key) -> str:
    """Return these claims as an access token, signed."""
    payload = json.dumps(claims, separators=(",", ":"), allow_nan=False).encode()
    token: str = jws.sign(payload, key.signer, {"typ": TYPES[0], "kid": key.kid}, key.algorithm)
    return token


def verify(
    token: object, keys: Keys, *, is_issuer: Callable[[str], bool], audience: str, now: float | None = None
) -> Claims:
    """Return the claims of a good token. Raises `TokenError`, and nothing else, whatever the token is.

    `now` is in seconds since 1970. `exp` is the first second at which a token is no longer good (RFC 7519, section
    4.1.4), told by a clock that may be `LEEWAY` ahead of ours: it is refused from `now == exp + LEEWAY` on.
    """
    moment = time.time() if now is None else now
    known = VERIFIED_TOKENS.get(token) if isinstance(token, str) and len(token) <= MAX_TOKEN else None
    if known and known.is_good(moment, keys, is_issuer, audience):
        return known.claims
    with as_token_error():
        header = parse_header(token)
    key = keys.get(header.get("kid"))
    if key is None:
        raise TokenError("no such key")
    with as_token_error():
        claims = verify_signature(str(token), header, key)
        check_times(claims, moment)
        check_identity_claims(claims, is_issuer, audience)
        begins = max(int(claims["iat"]) - LATEST_IAT, int(claims.get("nbf", 0)) - LEEWAY)
        ends = int(claims["exp"]) + LEEWAY
        claims = MappingProxyType(claims)
        VERIFIED_TOKENS.put(str(token), VerifiedToken(claims, header.get("kid"), key, begins, ends, len(str(token))))
    return claims


class VerifiedToken(NamedTuple):
    """A token that was good once, and what it takes to be good again: its key, its times, and whom it names."""

    claims: Claims
    kid: str | None
    key: Key
    begins: int  # seconds since 1970
    ends: int
    length: int

    def is_good(self, now: float, keys: Keys, is_issuer: Callable[[str], bool], audience: str) -> bool:
        return (
            self.begins <= now < self.ends
            and keys.get(self.kid) is self.key
            and self.claims["aud"] == audience
            and is_issuer(self.claims["iss"])
        )


# Reading a token and verifying its signature takes longer than all else of a small request: once will do. Only who has
# a token that one of our keys has signed can put one here. It weighs its text, and its claims some four times that.
VERIFIED_TOKENS: BoundedCache[VerifiedToken] = BoundedCache(
    4 * 1024 * 1024, weigh=lambda signed: 1000 + 5 * signed.length
)


@contextmanager
def as_token_error() -> Iterator[None]:
    """Turn whatever else goes wrong with a token into a refusal: recursion, numbers past all bounds, python-jose's."""
    try:
        yield
    except TokenError:
        raise
    except Exception as trouble:  # noqa: BLE001 - a bad token is 401, never 500
        raise TokenError(f"unreadable: {type(trouble).__name__}") from None


def parse_header(token: object) -> dict[str, Any]:
    """Return the header of a token of the right form."""
    if not isinstance(token, str):
        raise TokenError("no text")
    if len(token) > MAX_TOKEN:
        raise TokenError("too long")
    parts = token.split(".")
    if len(parts) != 3:
        raise TokenError("not three parts")
    header, _, _ = map(decode_base64url, parts)
    members = decode_json_object(header)
    if members.keys() & REFUSED_HEADERS:
        raise TokenError("header that is not for access tokens")
    if not isinstance(members.get("kid", ""), str):
        raise TokenError("kid is no text")
    if str(members.get("typ")).lower() not in TYPES:
        raise TokenError("typ is not at+jwt")
    return members


def verify_signature(token: str, header: Mapping[str, Any], key: Key) -> Claims:
    """Return the claims that this key has signed, with the algorithm that it is for."""
    if header.get("alg") != key.algorithm:
        raise TokenError("alg is not the key's")
    try:
        payload = jws.verify(token, key.verifier, algorithms=[key.algorithm])
    except JOSEError:
        raise TokenError("signature is wrong") from None
    return decode_json_object(payload)


def check_times(claims: Claims, now: float) -> None:
    issued, expires = numeric_date(claims, "iat"), numeric_date(claims, "exp")
    if now >= expires + LEEWAY:
        raise TokenError("expired")
    if issued > now + LATEST_IAT:
        raise TokenError("iat is in the future")
    if expires > issued + LONGEST_LIFE:
        raise TokenError("lives too long")
    if "nbf" in claims and numeric_date(claims, "nbf") > now + LEEWAY:
        raise TokenError("not good yet")


def check_identity_claims(claims: Claims, is_issuer: Callable[[str], bool], audience: str) -> None:
    for name in ("iss", "sub", "aud", "jti"):
        value = claims.get(name)
        if not isinstance(value, str) or not value or not is_storable(value):
            raise TokenError(f"{name} is missing, or no text")
    if claims["aud"] != audience:
        raise TokenError("aud is another")
    if not is_issuer(claims["iss"]):
        raise TokenError("iss is another")


def numeric_date(claims: Claims, name: str) -> int:
    """Return a NumericDate to the second; a bool and a text with digits are none."""
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TokenError(f"{name} is missing, or no number")
    return int(value)


def decode_base64url(part: str) -> bytes:
    """Decode one part of a token, which must be written in the one way in which these bytes are written."""
    content = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    if encode_base64url(content) != part:
        raise TokenError("base64url that is not canonical")
    return content


def encode_base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def decode_json_object(content: bytes) -> dict[str, Any]:
    """Decode an object in JSON and UTF-8, as strictly as RFC 8259 and 7515 (section 4) allow."""
    value = DECODER.decode(content.decode())
    if not isinstance(value, dict):
        raise TokenError("no object")
    return value


def refuse_duplicate_members(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) != len(members):
        raise TokenError("the same member twice")
    return found


def refuse_constant(_: str) -> NoReturn:
    raise TokenError("NaN or an infinite number")


DECODER = json.JSONDecoder(object_pairs_hook=refuse_duplicate_members, parse_constant=refuse_constant)


def compute_thumbprint(public: Mapping[str, str]) -> str:
    """Return the id of a public RSA key that everybody gives it (RFC 7638)."""
    required = {"e": public["e"], "kty": "RSA", "n": public["n"]}
    return encode_base64url(hashlib.sha256(json.dumps(required, separators=(",", ":")).encode()).digest())
