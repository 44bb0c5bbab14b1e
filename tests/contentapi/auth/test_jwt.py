"""Valid tokens, and the reason for which each other token is rejected.

Among them are tokens that use weaknesses of python-jose (docs/decisions/0025-jwt-library.md).
"""

import json
from collections.abc import Iterator
from typing import Any

import jwt as pyjwt
import pytest
from jose import jws

from contentapi.auth.jwk import Key
from contentapi.auth.jwt import MAX_TOKEN, encode
from contentapi.conf.timeouts import CLOCK_LEEWAY, MAX_IAT_LEAD, TOKEN_MAX_LIFETIME
from tests.contentapi.auth.tokens import (
    CLAIMS,
    ISSUER,
    KEYS,
    NOW,
    OTHER,
    RSA,
    SECRET,
    SHARED,
    base64url,
    build_header,
    forge_token,
    get_public_forms,
    get_rejection_reason,
    omit,
    verify_token,
)

Rows = Iterator[tuple[Any, str]]  # a token, and the reason: one that ends with `: ` or is empty may have more
VALID = encode(CLAIMS, RSA)
NO_TEXTS: list[Any] = [None, "", 7, True, ["contentapi", None], {"a": 1}, "a\0b", "\ud800"]
NO_ALGORITHMS: list[Any] = ["none", "None", "nOnE", "", None, 0, ["RS256"], {"RS256": 1}]
NO_KEY_IDS: list[Any] = [None, 0, True, ["x"], {"x": 1}, 1.5]
UNLIKELY: list[Any] = [None, False, "", [], ["exp"], "DEF", {}]
OTHER_TYPES: list[Any] = ["JWT", "at+jwt ", "id+jwt", "logout+jwt", "", None, 1, ["at+jwt"], "application/jwt"]
NO_TOKENS: list[Any] = [None, b"", VALID.encode(), 7, [], {}, object(), True, 1.5]
AUDIENCES: list[Any] = ["content", "contentapi ", "CONTENTAPI", "contentapi,other", [], ["contentap"]]
NO_NUMBERS: list[Any] = [None, True, False, "1800000000", "1e3", "", [], {}, [NOW], "NaN"]


# --- Valid tokens ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [RSA, SHARED], ids=["RS256", "HS256"])
def test_encoded_token_is_verified(key: Key) -> None:
    claims = {**CLAIMS, "name": "Inés \U0001f3b5", "role": "author", "custom": {"a": [1, None, True]}}

    token = encode(claims, key)

    assert verify_token(token) == claims
    assert pyjwt.get_unverified_header(token) == {"alg": key.algorithm, "kid": key.kid, "typ": "at+jwt"}


def test_token_signed_by_the_secret_needs_no_kid() -> None:
    assert verify_token(forge_token({"alg": "HS256", "typ": "at+jwt"}, CLAIMS, SECRET)) == CLAIMS


@pytest.mark.parametrize("typ", ["at+jwt", "AT+JWT", "application/at+jwt"])
def test_typ_may_be_a_media_type_in_any_case(typ: str) -> None:
    assert verify_token(forge_token(build_header(typ=typ), CLAIMS)) == CLAIMS


def test_public_key_alone_verifies() -> None:
    public = Key.from_pem(RSA.public_pem)

    assert verify_token(VALID, keys={public.kid: public}) == CLAIMS


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": ["contentapi"]},
        {"aud": ["https://other.invalid", "contentapi"]},
        {"iat": NOW - 0.5, "exp": NOW + 1.25},
        {"exp": NOW + TOKEN_MAX_LIFETIME},
        {"iat": NOW + MAX_IAT_LEAD, "exp": NOW + MAX_IAT_LEAD + 600},
        {"nbf": NOW - 100},
        {"nbf": NOW + CLOCK_LEEWAY},
    ],
    ids=str,
)
def test_claims_at_their_limits_are_verified_also_from_the_cache(changes: dict[str, Any]) -> None:
    claims = {**CLAIMS, **changes}

    assert [verify_token(encode(claims, RSA)) for _ in range(2)] == [claims] * 2


@pytest.mark.parametrize("late", [-1, 0, CLOCK_LEEWAY - 1, CLOCK_LEEWAY - 0.001, CLOCK_LEEWAY, CLOCK_LEEWAY + 1])
def test_token_is_valid_until_exp_plus_leeway(late: float) -> None:
    now = NOW + 600 + late

    if late < CLOCK_LEEWAY:
        assert verify_token(VALID, now=now) == CLAIMS
    else:
        assert get_rejection_reason(VALID, now=now) == "expired"


# --- Rejected tokens ------------------------------------------------------------------------------------


def list_algorithms_and_keys() -> Rows:
    for alg in NO_ALGORITHMS:
        signed = forge_token(build_header(alg=alg), CLAIMS)
        yield signed, "alg is not the key's"
        yield signed.rpartition(".")[0] + ".", "alg is not the key's"
    for other in ("RS384", "RS512", "PS256", "ES256", "HS256", "HS512", "rs256", "RS256 ", "HS256,RS256"):
        yield forge_token(build_header(alg=other), CLAIMS), "alg is not the key's"
    yield forge_token(omit(build_header(), "alg"), CLAIMS), "alg is not the key's"
    yield forge_token(omit(build_header(), "kid"), CLAIMS), "alg is not the key's"  # only the secret needs no kid
    for kid in (OTHER.kid, "", RSA.kid[:-1], RSA.kid.upper(), "../1", "\0", "\ud800"):
        yield forge_token(build_header(kid=kid), CLAIMS), "no such key"
    for value in NO_KEY_IDS:
        yield forge_token(build_header(kid=value), CLAIMS), "kid is not text"


def list_headers() -> Rows:
    for members in ({"jwk": OTHER.public_jwk}, {"jku": "https://evil.invalid/"}, {"x5c": ["x"]}, {"x5u": "x"}):
        token = forge_token(build_header(**members), CLAIMS, OTHER.signer)
        yield token, "a header parameter that access tokens must not have"
    for name in ("crit", "b64", "jku", "jwk", "x5u", "x5c", "zip"):
        for value in UNLIKELY:
            token = forge_token(build_header(**{name: value}), CLAIMS)
            yield token, "a header parameter that access tokens must not have"
    for typ in OTHER_TYPES:
        yield forge_token(build_header(typ=typ), CLAIMS), "typ is not at+jwt"
    yield forge_token(omit(build_header(), "typ"), CLAIMS), "typ is not at+jwt"


def list_times() -> Rows:
    for name in ("exp", "iat", "nbf"):
        for value in NO_NUMBERS:
            yield encode({**CLAIMS, name: value}, RSA), f"{name} is missing, or not a number"
        payload = json.dumps({**CLAIMS, name: "here"})
        for text in ("NaN", "Infinity", "-Infinity"):
            yield forge_token(build_header(), payload.replace('"here"', text)), "NaN or Infinity"
        for text in ("1e308", "1e999", "-1e999", "9" * 400, "9" * 5000, "-1", "0", "1e-400"):
            if name != "nbf":
                yield forge_token(build_header(), payload.replace('"here"', text)), ""
    for name in ("exp", "iat"):
        yield encode(omit(CLAIMS, name), RSA), f"{name} is missing, or not a number"
    for lifetime in (TOKEN_MAX_LIFETIME + 1, 10**9):
        yield encode({**CLAIMS, "exp": NOW + lifetime}, RSA), "lifetime is too long"
    for ahead in (MAX_IAT_LEAD + 1, 10**6):
        yield encode({**CLAIMS, "iat": NOW + ahead, "exp": NOW + ahead + 600}, RSA), "iat is in the future"
    yield encode({**CLAIMS, "nbf": NOW + CLOCK_LEEWAY + 1}, RSA), "nbf is in the future"


def list_identities() -> Rows:
    for name in ("iss", "sub", "aud", "jti"):
        yield encode(omit(CLAIMS, name), RSA), f"{name} is missing, or not text"
        for value in NO_TEXTS:
            yield encode({**CLAIMS, name: value}, RSA), f"{name} is missing, or not text"
    for audience in AUDIENCES:
        yield encode({**CLAIMS, "aud": audience}, RSA), "aud is different"
    for issuer in (f"{ISSUER}/", ISSUER.upper(), "https://evil.invalid"):
        yield encode({**CLAIMS, "iss": issuer}, RSA), "iss is different"


def list_parts() -> Rows:
    for value in NO_TOKENS:
        yield value, "not text"
    for token in ("", "a", "a.b", "a.b.c.d", "a.b.c.d.e", f"{VALID}.", f".{VALID}"):
        yield token, "not three parts"
    for token in ("..", "a.b.c", "\0.\0.\0", "é.é.é", "\ud800.a.b", "e30.e30.", "e30.e30.e30", "=.=.=", "1.1.1"):
        yield token, ""
    parts = VALID.split(".")
    for place, part in enumerate(parts):
        for extra in ("=", "==", " ", "\n", "\0", "+", "/", "é", "\u200b", "*", "A"):
            yield ".".join([*parts[:place], extra + part, *parts[place + 1 :]]), ""
            yield ".".join([*parts[:place], part + extra, *parts[place + 1 :]]), ""


def list_encodings() -> Rows:
    for encoding in ("utf-16", "utf-16-le", "utf-32", "utf-8-sig"):
        signed = ".".join(base64url(json.dumps(part).encode(encoding)) for part in (build_header(), CLAIMS))
        yield f"{signed}.{base64url(RSA.signer.sign(signed.encode()))}", "unreadable: "
    for text in ("[]", "null", "7", '"text"', "true", "[{}]"):
        yield forge_token(text, CLAIMS), "not an object"
        yield forge_token(build_header(), text), "not an object"
    for text in ("", "{", "{}x", "{'a': 1}", "\ufeff{}", "{,}", "NaN"):
        yield forge_token(text, CLAIMS), ""
        yield forge_token(build_header(), text), ""
    for opening in ("[", '{"a":'):
        cut = opening * (4000 // len(opening))
        yield forge_token(opening * 100_000, CLAIMS), "too long"
        yield forge_token(cut, CLAIMS), "unreadable: "
        yield forge_token(build_header(), cut), "unreadable: "
    yield forge_token(json.dumps(build_header())[:-1] + ', "alg": "none"}', CLAIMS), "unreadable: DuplicateKey"
    for more in (', "sub": "1"}', ', "deep": {"a": [{"b": 1, "b": 2}]}}'):
        yield forge_token(build_header(), json.dumps(CLAIMS)[:-1] + more), "unreadable: DuplicateKey"


@pytest.mark.parametrize(
    "rows",
    [list_algorithms_and_keys, list_headers, list_times, list_identities, list_parts, list_encodings],
    ids=lambda rows: rows.__name__.removeprefix("list_"),
)
def test_other_token_is_rejected_for_its_reason(rows: Any) -> None:
    for token, expected in rows():
        reason = get_rejection_reason(token)

        is_exact = bool(expected) and not expected.endswith(" ")
        assert reason == expected if is_exact else reason.startswith(expected), token
        assert reason
        assert len(reason) < 60  # it contains no part of the token


# --- Weaknesses of python-jose --------------------------------------------------------------------------


@pytest.mark.parametrize("secret", get_public_forms().values(), ids=list(get_public_forms()))
@pytest.mark.parametrize("kid", [RSA.kid, SHARED.kid, None], ids=["RSA", "secret", "none"])
def test_public_key_is_not_used_as_a_secret(secret: bytes, kid: str | None) -> None:
    named = build_header(alg="HS256", kid=kid)
    token = forge_token(named if kid else omit(named, "kid"), CLAIMS, secret)

    assert get_rejection_reason(token) in ("alg is not the key's", "signature is wrong")


def test_python_jose_alone_accepts_the_public_key_in_der_and_an_unknown_crit() -> None:
    der = get_public_forms()["DER"]

    assert jws.verify(forge_token(build_header(alg="HS256"), CLAIMS, der), der, algorithms=None)
    assert jws.verify(forge_token(build_header(crit=["exp"]), CLAIMS), RSA.verifier, algorithms=["RS256"])


def test_only_the_key_of_the_kid_is_tried() -> None:
    token = forge_token(build_header(kid=OTHER.kid), CLAIMS, RSA.signer)

    assert get_rejection_reason(token, keys={**KEYS, OTHER.kid: OTHER}) == "signature is wrong"
    assert get_rejection_reason(forge_token(omit(build_header(), "kid"), CLAIMS), keys={RSA.kid: RSA}) == "no such key"


def test_signature_in_another_encoding_is_rejected() -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    reencoded = VALID[:-1] + alphabet[alphabet.index(VALID[-1]) ^ 1]

    assert jws.verify(reencoded, RSA.verifier, algorithms=["RS256"])
    assert get_rejection_reason(reencoded) == "base64url is not canonical"


def test_token_longer_than_the_limit_is_rejected() -> None:
    def of_length(length: int) -> str:
        missing = length - len(encode({**CLAIMS, "filling": ""}, RSA))
        fillings = ("x" * size for size in range(missing * 3 // 4 - 4, missing))
        tokens = (encode({**CLAIMS, "filling": filling}, RSA) for filling in fillings)
        return next(token for token in tokens if len(token) >= length)

    at_most = of_length(MAX_TOKEN - 1)

    assert len(at_most) <= MAX_TOKEN
    assert verify_token(at_most)["jti"] == "one"
    assert get_rejection_reason(of_length(MAX_TOKEN + 1)) == "too long"
