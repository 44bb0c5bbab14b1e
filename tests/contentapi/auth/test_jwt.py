"""Valid tokens, and tokens that use weaknesses of python-jose (docs/decisions/0025-jwt-library.md)."""

import base64
import hmac
import json
from typing import Any

import jwt as pyjwt
import pytest
from cryptography.hazmat.primitives import serialization
from jose import jws

from contentapi.auth.jwk import Key
from contentapi.auth.jwt import (
    LEEWAY,
    MAX_IAT_LEAD,
    MAX_LIFETIME,
    MAX_TOKEN,
    Claims,
    TokenError,
    encode,
    verify,
)

NOW = 1_800_000_000
ISSUER = "https://api.example.invalid"
RSA = Key.generate()
OTHER = Key.generate()
SECRET = b"a secret of thirty-two bytes, at least"
SHARED = Key.from_secret(SECRET)
KEYS = {RSA.kid: RSA, SHARED.kid: SHARED, None: SHARED}
CLAIMS = {"iss": ISSUER, "aud": "contentapi", "sub": "7", "iat": NOW, "exp": NOW + 600, "jti": "one"}


def verified(token: Any, *, now: float = NOW, keys: Any = KEYS) -> Claims:
    return verify(token, keys, is_issuer=ISSUER.__eq__, audience="contentapi", now=now)


def refusal(token: Any, **options: Any) -> str:
    """Return why a token is rejected."""
    with pytest.raises(TokenError) as raised:
        verified(token, **options)
    return str(raised.value)


def forged(header: dict[str, Any] | str, payload: dict[str, Any] | str, key: Any = RSA.signer) -> str:
    """Return a token with exactly this header and payload and a valid signature, HS256 if the key is bytes."""
    texts = (part if isinstance(part, str) else json.dumps(part) for part in (header, payload))
    signed = ".".join(base64url(text.encode(errors="surrogatepass")) for text in texts)
    signature = hmac.digest(key, signed.encode(), "sha256") if isinstance(key, bytes) else key.sign(signed.encode())
    return f"{signed}.{base64url(signature)}"


def base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def header(**members: Any) -> dict[str, Any]:
    return {"alg": "RS256", "typ": "at+jwt", "kid": RSA.kid} | members


def without(members: dict[str, Any], name: str) -> dict[str, Any]:
    return {other: value for other, value in members.items() if other != name}


# --- Valid tokens ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [RSA, SHARED], ids=["RS256", "HS256"])
def test_encoded_token_is_verified(key: Key) -> None:
    claims = {**CLAIMS, "name": "Inés \U0001f3b5", "role": "author", "custom": {"a": [1, None, True]}}

    token = encode(claims, key)

    assert verified(token) == claims
    assert pyjwt.get_unverified_header(token) == {"alg": key.algorithm, "kid": key.kid, "typ": "at+jwt"}


def test_token_signed_by_the_secret_needs_no_kid() -> None:
    token = forged({"alg": "HS256", "typ": "at+jwt"}, CLAIMS, SECRET)

    assert verified(token) == CLAIMS


@pytest.mark.parametrize("typ", ["at+jwt", "AT+JWT", "application/at+jwt"])
def test_typ_may_be_a_media_type_in_any_case(typ: str) -> None:
    assert verified(forged(header(typ=typ), CLAIMS)) == CLAIMS


def test_public_key_alone_verifies() -> None:
    public = Key.from_pem(RSA.public_pem)

    assert verified(encode(CLAIMS, RSA), keys={public.kid: public}) == CLAIMS


# --- Algorithms and keys --------------------------------------------------------------------------------


@pytest.mark.parametrize("alg", ["none", "None", "NONE", "nOnE", "", None, 0, ["RS256"], {"RS256": 1}])
def test_missing_or_none_algorithm_is_rejected(alg: Any) -> None:
    signed = forged(header(alg=alg), CLAIMS)

    assert refusal(signed) == "alg is not the key's"
    assert refusal(signed.rpartition(".")[0] + ".") == "alg is not the key's"
    assert refusal(forged(without(header(), "alg"), CLAIMS)) == "alg is not the key's"


@pytest.mark.parametrize(
    "alg", ["RS384", "RS512", "PS256", "ES256", "HS256", "HS512", "rs256", "RS256 ", "HS256,RS256"]
)
def test_algorithm_other_than_that_of_the_key_is_rejected(alg: str) -> None:
    assert refusal(forged(header(alg=alg), CLAIMS)) == "alg is not the key's"


def public_forms() -> dict[str, bytes]:
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


@pytest.mark.parametrize(("form", "secret"), public_forms().items(), ids=list(public_forms()))
@pytest.mark.parametrize("kid", [RSA.kid, SHARED.kid, None], ids=["RSA", "secret", "none"])
def test_public_key_is_not_used_as_a_secret(form: str, secret: bytes, kid: str | None) -> None:  # noqa: ARG001 - the test's id
    named = header(alg="HS256", kid=kid)
    token = forged(named if kid else without(named, "kid"), CLAIMS, secret)

    assert refusal(token) in ("alg is not the key's", "signature is wrong")


def test_python_jose_alone_accepts_the_public_key_in_der_as_a_secret() -> None:
    der = public_forms()["DER"]
    token = forged(header(alg="HS256"), CLAIMS, der)

    assert jws.verify(token, der, algorithms=None)
    assert refusal(token) == "alg is not the key's"


@pytest.mark.parametrize("kid", [OTHER.kid, "", RSA.kid[:-1], RSA.kid.upper(), "../1", "\0", "\ud800"], ids=range(7))
def test_unknown_key_is_rejected(kid: str) -> None:
    assert refusal(forged(header(kid=kid), CLAIMS)) == "no such key"


@pytest.mark.parametrize("kid", [None, 0, True, ["x"], {"x": 1}, 1.5])
def test_kid_that_is_not_text_is_rejected(kid: Any) -> None:
    assert refusal(forged(header(kid=kid), CLAIMS)) == "kid is not text"


def test_token_of_an_rsa_key_needs_a_kid() -> None:
    assert refusal(forged(without(header(), "kid"), CLAIMS)) == "alg is not the key's"
    assert refusal(forged(without(header(), "kid"), CLAIMS), keys={RSA.kid: RSA}) == "no such key"


def test_only_the_key_of_the_kid_is_tried() -> None:
    keys = {**KEYS, OTHER.kid: OTHER}

    token = forged(header(kid=OTHER.kid), CLAIMS, RSA.signer)

    assert refusal(token, keys=keys) == "signature is wrong"


def test_key_in_the_header_is_not_used() -> None:
    for members in ({"jwk": OTHER.public_jwk}, {"jku": "https://evil.invalid/"}, {"x5c": ["x"]}, {"x5u": "x"}):
        token = forged(header(**members), CLAIMS, OTHER.signer)

        assert refusal(token) == "a header parameter that access tokens must not have"


@pytest.mark.parametrize("name", ["crit", "b64", "jku", "jwk", "x5u", "x5c", "zip"])
@pytest.mark.parametrize("value", [None, False, "", [], ["exp"], "DEF", {}])
def test_header_parameters_that_change_the_meaning_are_rejected(name: str, value: Any) -> None:
    token = forged(header(**{name: value}), CLAIMS)

    assert refusal(token) == "a header parameter that access tokens must not have"
    assert jws.verify(token, RSA.verifier, algorithms=["RS256"])


@pytest.mark.parametrize(
    "typ", ["JWT", "jwt", "at+jwt ", "id+jwt", "logout+jwt", "", None, 1, ["at+jwt"], "application/jwt"]
)
def test_other_type_of_token_is_rejected(typ: Any) -> None:
    assert refusal(forged(header(typ=typ), CLAIMS)) == "typ is not at+jwt"
    assert refusal(forged(without(header(), "typ"), CLAIMS)) == "typ is not at+jwt"


# --- Times ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("late", "valid"),
    [(-1, True), (0, True), (LEEWAY - 1, True), (LEEWAY - 0.001, True), (LEEWAY, False), (LEEWAY + 1, False)],
)
def test_token_is_valid_until_exp_plus_leeway(late: float, *, valid: bool) -> None:
    token, now = encode(CLAIMS, RSA), CLAIMS["exp"] + late  # type: ignore[operator]

    if valid:
        assert verified(token, now=now) == CLAIMS
    else:
        assert refusal(token, now=now) == "expired"


NOT_NUMBERS: list[Any] = [None, True, False, "1800000000", "1e3", "", [], {}, [NOW], "NaN"]


@pytest.mark.parametrize("name", ["exp", "iat", "nbf"])
@pytest.mark.parametrize("value", NOT_NUMBERS, ids=repr)
def test_time_that_is_not_a_number_is_rejected(name: str, value: Any) -> None:
    assert refusal(encode({**CLAIMS, name: value}, RSA)) == f"{name} is missing, or not a number"


@pytest.mark.parametrize("name", ["exp", "iat", "nbf"])
@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_time_that_is_not_finite_is_rejected(name: str, text: str) -> None:
    payload = json.dumps({**CLAIMS, name: "here"}).replace('"here"', text)

    assert refusal(forged(header(), payload)) == "NaN or Infinity"


@pytest.mark.parametrize("text", ["1e308", "1e999", "-1e999", "9" * 400, "9" * 5000, "-1", "0", "1e-400"])
@pytest.mark.parametrize("name", ["exp", "iat"])
def test_extreme_time_is_rejected(name: str, text: str) -> None:
    payload = json.dumps({**CLAIMS, name: "here"}).replace('"here"', text)

    assert refusal(forged(header(), payload))


@pytest.mark.parametrize("name", ["exp", "iat"])
def test_exp_and_iat_are_required(name: str) -> None:
    assert refusal(encode(without(CLAIMS, name), RSA)) == f"{name} is missing, or not a number"


@pytest.mark.parametrize(("lifetime", "valid"), [(MAX_LIFETIME, True), (MAX_LIFETIME + 1, False), (10**9, False)])
def test_lifetime_of_more_than_a_day_is_rejected(lifetime: int, *, valid: bool) -> None:
    claims = {**CLAIMS, "exp": NOW + lifetime}

    if valid:
        assert verified(encode(claims, RSA)) == claims
    else:
        assert refusal(encode(claims, RSA)) == "lifetime is too long"


@pytest.mark.parametrize(("ahead", "valid"), [(MAX_IAT_LEAD, True), (MAX_IAT_LEAD + 1, False), (10**6, False)])
def test_iat_more_than_a_minute_in_the_future_is_rejected(ahead: int, *, valid: bool) -> None:
    claims = {**CLAIMS, "iat": NOW + ahead, "exp": NOW + ahead + 600}

    if valid:
        assert verified(encode(claims, RSA)) == claims
    else:
        assert refusal(encode(claims, RSA)) == "iat is in the future"


@pytest.mark.parametrize(("ahead", "valid"), [(-100, True), (LEEWAY, True), (LEEWAY + 1, False)])
def test_nbf_in_the_future_is_rejected(ahead: int, *, valid: bool) -> None:
    claims = {**CLAIMS, "nbf": NOW + ahead}

    if valid:
        assert verified(encode(claims, RSA)) == claims
    else:
        assert refusal(encode(claims, RSA)) == "nbf is in the future"


def test_times_may_have_fractions() -> None:
    claims = {**CLAIMS, "iat": NOW - 0.5, "exp": NOW + 1.25}

    assert verified(encode(claims, RSA)) == claims


# --- Identity claims ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["iss", "sub", "aud", "jti"])
@pytest.mark.parametrize("value", [None, "", 7, True, ["contentapi"], {"a": 1}, "a\0b", "\ud800"], ids=repr)
def test_identity_claim_that_is_not_text_is_rejected(name: str, value: Any) -> None:
    assert refusal(encode({**CLAIMS, name: value}, RSA)) == f"{name} is missing, or not text"


@pytest.mark.parametrize("name", ["iss", "sub", "aud", "jti"])
def test_all_identity_claims_are_required(name: str) -> None:
    assert refusal(encode(without(CLAIMS, name), RSA)) == f"{name} is missing, or not text"


@pytest.mark.parametrize("audience", ["content", "contentapi ", "CONTENTAPI", "contentapi,other", "other"])
def test_other_audience_is_rejected(audience: str) -> None:
    assert refusal(encode({**CLAIMS, "aud": audience}, RSA)) == "aud is different"


@pytest.mark.parametrize("issuer", [f"{ISSUER}/", ISSUER.upper(), "https://evil.invalid"])
def test_other_issuer_is_rejected(issuer: str) -> None:
    assert refusal(encode({**CLAIMS, "iss": issuer}, RSA)) == "iss is different"


# --- Form -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "token",
    [None, b"", encode(CLAIMS, RSA).encode(), 7, [], {}, object(), True, 1.5],
    ids=lambda token: type(token).__name__,
)
def test_value_that_is_not_text_is_rejected(token: Any) -> None:
    assert refusal(token) == "not text"


@pytest.mark.parametrize(
    "token",
    ["", "a", "a.b", "a.b.c.d", "a.b.c.d.e", encode(CLAIMS, RSA) + ".", "." + encode(CLAIMS, RSA)],
    ids=range(7),
)
def test_token_without_three_parts_is_rejected(token: str) -> None:
    assert refusal(token) == "not three parts"


@pytest.mark.parametrize(
    "garbage", ["..", "a.b.c", "\0.\0.\0", "é.é.é", "\ud800.a.b", "e30.e30.", "e30.e30.e30", "=.=.=", "1.1.1"]
)
def test_garbage_is_rejected(garbage: str) -> None:
    assert refusal(garbage)


@pytest.mark.parametrize("part", [0, 1, 2])
@pytest.mark.parametrize("extra", ["=", "==", " ", "\n", "\0", "+", "/", "é", "\u200b", "*", "A"])
@pytest.mark.parametrize("where", ["before", "after"])
def test_part_with_an_extra_character_is_rejected(part: int, extra: str, where: str) -> None:
    parts = encode(CLAIMS, RSA).split(".")
    parts[part] = extra + parts[part] if where == "before" else parts[part] + extra

    assert refusal(".".join(parts))


def test_signature_in_another_encoding_is_rejected() -> None:
    token = encode(CLAIMS, RSA)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    reencoded = token[:-1] + alphabet[alphabet.index(token[-1]) ^ 1]

    assert jws.verify(reencoded, RSA.verifier, algorithms=["RS256"])
    assert refusal(reencoded) == "base64url is not canonical"


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_deep_header_or_payload_is_rejected(opening: str) -> None:
    deep = opening * 100_000
    cut = opening * (4000 // len(opening))

    assert refusal(forged(deep, CLAIMS)) == "too long"
    assert refusal(forged(cut, CLAIMS)).startswith("unreadable: ")
    assert refusal(forged(header(), cut)).startswith("unreadable: ")


def test_token_longer_than_the_limit_is_rejected() -> None:
    def of_length(length: int) -> str:
        claims = {**CLAIMS, "filling": ""}
        missing = length - len(encode(claims, RSA))
        return next(
            token
            for size in range(missing * 3 // 4 - 4, missing)
            if len(token := encode({**claims, "filling": "x" * size}, RSA)) >= length
        )

    at_most = of_length(MAX_TOKEN - 1)

    assert len(at_most) <= MAX_TOKEN
    assert verified(at_most)["jti"] == "one"
    assert refusal(of_length(MAX_TOKEN + 1)) == "too long"


@pytest.mark.parametrize("text", ["[]", "null", "7", '"text"', "true", "[{}]"])
def test_part_that_is_not_an_object_is_rejected(text: str) -> None:
    assert refusal(forged(text, CLAIMS)) == "not an object"
    assert refusal(forged(header(), text)) == "not an object"


@pytest.mark.parametrize("text", ["", "{", "{}x", "{'a': 1}", "\ufeff{}", "{,}", "NaN"])
def test_part_that_is_not_json_is_rejected(text: str) -> None:
    assert refusal(forged(text, CLAIMS))
    assert refusal(forged(header(), text))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
def test_encoding_other_than_utf_8_is_rejected(encoding: str) -> None:
    parts = [base64url(json.dumps(part).encode(encoding)) for part in (header(), CLAIMS)]
    signed = ".".join(parts)

    assert refusal(f"{signed}.{base64url(RSA.signer.sign(signed.encode()))}").startswith("unreadable: ")


def test_duplicate_member_is_rejected() -> None:
    twice_alg = json.dumps(header())[:-1] + ', "alg": "none"}'
    twice_sub = json.dumps(CLAIMS)[:-1] + ', "sub": "1"}'
    twice_nested = json.dumps(CLAIMS)[:-1] + ', "deep": {"a": [{"b": 1, "b": 2}]}}'

    assert refusal(forged(twice_alg, CLAIMS)) == "duplicate member"
    assert refusal(forged(header(), twice_sub)) == "duplicate member"
    assert refusal(forged(header(), twice_nested)) == "duplicate member"


def test_message_does_not_contain_the_token() -> None:
    for token in (encode(CLAIMS, OTHER), forged("x" * 500, CLAIMS), forged(header(), "hush" * 100), "hush." * 7):
        reason = refusal(token)

        assert len(reason) < 50
        assert "hush" not in reason
