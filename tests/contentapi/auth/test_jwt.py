"""Every hole of python-jose that is known ("Traps", section 2), and what is made of a token that tries it."""

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
    """Return why a token is refused."""
    with pytest.raises(TokenError) as raised:
        verified(token, **options)
    return str(raised.value)


def forged(header: dict[str, Any] | str, payload: dict[str, Any] | str, key: Any = RSA.signer) -> str:
    """Return a token with exactly this header and payload, and a true signature: HS256 by a key of bytes."""
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


# --- Good tokens ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [RSA, SHARED], ids=["RS256", "HS256"])
def test_what_is_encoded_is_verified(key: Key) -> None:
    claims = {**CLAIMS, "name": "Inés \U0001f3b5", "role": "author", "custom": {"a": [1, None, True]}}

    token = encode(claims, key)

    assert verified(token) == claims
    assert pyjwt.get_unverified_header(token) == {"alg": key.algorithm, "kid": key.kid, "typ": "at+jwt"}


def test_a_token_of_the_secret_needs_no_kid() -> None:
    token = forged({"alg": "HS256", "typ": "at+jwt"}, CLAIMS, SECRET)

    assert verified(token) == CLAIMS


@pytest.mark.parametrize("typ", ["at+jwt", "AT+JWT", "application/at+jwt"])
def test_the_type_may_be_written_in_full_and_in_any_case(typ: str) -> None:
    assert verified(forged(header(typ=typ), CLAIMS)) == CLAIMS


def test_the_public_half_alone_verifies() -> None:
    public = Key.from_pem(RSA.public_pem)

    assert verified(encode(CLAIMS, RSA), keys={public.kid: public}) == CLAIMS


# --- Algorithms and keys --------------------------------------------------------------------------------


@pytest.mark.parametrize("alg", ["none", "None", "NONE", "nOnE", "", None, 0, ["RS256"], {"RS256": 1}])
def test_no_algorithm_is_refused(alg: Any) -> None:
    signed = forged(header(alg=alg), CLAIMS)

    assert refusal(signed) == "alg is not the key's"
    assert refusal(signed.rpartition(".")[0] + ".") == "alg is not the key's"
    assert refusal(forged(without(header(), "alg"), CLAIMS)) == "alg is not the key's"


@pytest.mark.parametrize(
    "alg", ["RS384", "RS512", "PS256", "ES256", "HS256", "HS512", "rs256", "RS256 ", "HS256,RS256"]
)
def test_another_algorithm_than_the_keys_is_refused(alg: str) -> None:
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
def test_the_public_key_is_no_secret(form: str, secret: bytes, kid: str | None) -> None:  # noqa: ARG001 - the test's id
    named = header(alg="HS256", kid=kid)
    token = forged(named if kid else without(named, "kid"), CLAIMS, secret)

    assert refusal(token) in ("alg is not the key's", "signature is wrong")


def test_python_jose_falls_for_the_public_key_in_der_where_it_may_choose_the_algorithm() -> None:
    der = public_forms()["DER"]
    token = forged(header(alg="HS256"), CLAIMS, der)

    assert jws.verify(token, der, algorithms=None)
    assert refusal(token) == "alg is not the key's"


@pytest.mark.parametrize("kid", [OTHER.kid, "", RSA.kid[:-1], RSA.kid.upper(), "../1", "\0", "\ud800"], ids=range(7))
def test_a_key_that_is_not_known_is_refused(kid: str) -> None:
    assert refusal(forged(header(kid=kid), CLAIMS)) == "no such key"


@pytest.mark.parametrize("kid", [None, 0, True, ["x"], {"x": 1}, 1.5])
def test_a_kid_that_is_no_text_is_refused(kid: Any) -> None:
    assert refusal(forged(header(kid=kid), CLAIMS)) == "kid is not text"


def test_an_rsa_key_must_be_named() -> None:
    assert refusal(forged(without(header(), "kid"), CLAIMS)) == "alg is not the key's"
    assert refusal(forged(without(header(), "kid"), CLAIMS), keys={RSA.kid: RSA}) == "no such key"


def test_only_the_key_that_is_named_is_tried() -> None:
    keys = {**KEYS, OTHER.kid: OTHER}

    token = forged(header(kid=OTHER.kid), CLAIMS, RSA.signer)

    assert refusal(token, keys=keys) == "signature is wrong"


def test_a_key_in_the_header_is_not_used() -> None:
    for members in ({"jwk": OTHER.public_jwk}, {"jku": "https://evil.invalid/"}, {"x5c": ["x"]}, {"x5u": "x"}):
        token = forged(header(**members), CLAIMS, OTHER.signer)

        assert refusal(token) == "a header parameter that access tokens must not have"


@pytest.mark.parametrize("name", ["crit", "b64", "jku", "jwk", "x5u", "x5c", "zip"])
@pytest.mark.parametrize("value", [None, False, "", [], ["exp"], "DEF", {}])
def test_headers_that_change_what_a_token_means_are_refused(name: str, value: Any) -> None:
    token = forged(header(**{name: value}), CLAIMS)

    assert refusal(token) == "a header parameter that access tokens must not have"
    assert jws.verify(token, RSA.verifier, algorithms=["RS256"])


@pytest.mark.parametrize(
    "typ", ["JWT", "jwt", "at+jwt ", "id+jwt", "logout+jwt", "", None, 1, ["at+jwt"], "application/jwt"]
)
def test_another_type_of_token_is_refused(typ: Any) -> None:
    assert refusal(forged(header(typ=typ), CLAIMS)) == "typ is not at+jwt"
    assert refusal(forged(without(header(), "typ"), CLAIMS)) == "typ is not at+jwt"


# --- Times ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("late", "good"),
    [(-1, True), (0, True), (LEEWAY - 1, True), (LEEWAY - 0.001, True), (LEEWAY, False), (LEEWAY + 1, False)],
)
def test_a_token_is_good_until_its_exp_and_the_leeway(late: float, *, good: bool) -> None:
    token, now = encode(CLAIMS, RSA), CLAIMS["exp"] + late  # type: ignore[operator]

    if good:
        assert verified(token, now=now) == CLAIMS
    else:
        assert refusal(token, now=now) == "expired"


NO_NUMBERS: list[Any] = [None, True, False, "1800000000", "1e3", "", [], {}, [NOW], "NaN"]


@pytest.mark.parametrize("name", ["exp", "iat", "nbf"])
@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_a_time_that_is_no_number_is_refused(name: str, value: Any) -> None:
    assert refusal(encode({**CLAIMS, name: value}, RSA)) == f"{name} is missing, or not a number"


@pytest.mark.parametrize("name", ["exp", "iat", "nbf"])
@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_a_time_that_is_no_finite_number_is_refused(name: str, text: str) -> None:
    payload = json.dumps({**CLAIMS, name: "here"}).replace('"here"', text)

    assert refusal(forged(header(), payload)) == "NaN or Infinity"


@pytest.mark.parametrize("text", ["1e308", "1e999", "-1e999", "9" * 400, "9" * 5000, "-1", "0", "1e-400"])
@pytest.mark.parametrize("name", ["exp", "iat"])
def test_a_time_beyond_all_bounds_is_refused(name: str, text: str) -> None:
    payload = json.dumps({**CLAIMS, name: "here"}).replace('"here"', text)

    assert refusal(forged(header(), payload))


@pytest.mark.parametrize("name", ["exp", "iat"])
def test_both_times_are_required(name: str) -> None:
    assert refusal(encode(without(CLAIMS, name), RSA)) == f"{name} is missing, or not a number"


@pytest.mark.parametrize(("life", "good"), [(MAX_LIFETIME, True), (MAX_LIFETIME + 1, False), (10**9, False)])
def test_no_token_lives_longer_than_a_day(life: int, *, good: bool) -> None:
    claims = {**CLAIMS, "exp": NOW + life}

    if good:
        assert verified(encode(claims, RSA)) == claims
    else:
        assert refusal(encode(claims, RSA)) == "lifetime is too long"


@pytest.mark.parametrize(("ahead", "good"), [(MAX_IAT_LEAD, True), (MAX_IAT_LEAD + 1, False), (10**6, False)])
def test_an_iat_in_the_future_is_refused_beyond_a_minute(ahead: int, *, good: bool) -> None:
    claims = {**CLAIMS, "iat": NOW + ahead, "exp": NOW + ahead + 600}

    if good:
        assert verified(encode(claims, RSA)) == claims
    else:
        assert refusal(encode(claims, RSA)) == "iat is in the future"


@pytest.mark.parametrize(("ahead", "good"), [(-100, True), (LEEWAY, True), (LEEWAY + 1, False)])
def test_an_nbf_is_honoured(ahead: int, *, good: bool) -> None:
    claims = {**CLAIMS, "nbf": NOW + ahead}

    if good:
        assert verified(encode(claims, RSA)) == claims
    else:
        assert refusal(encode(claims, RSA)) == "nbf is in the future"


def test_times_may_have_fractions() -> None:
    claims = {**CLAIMS, "iat": NOW - 0.5, "exp": NOW + 1.25}

    assert verified(encode(claims, RSA)) == claims


# --- Names ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["iss", "sub", "aud", "jti"])
@pytest.mark.parametrize("value", [None, "", 7, True, ["contentapi"], {"a": 1}, "a\0b", "\ud800"], ids=repr)
def test_a_name_that_is_no_text_is_refused(name: str, value: Any) -> None:
    assert refusal(encode({**CLAIMS, name: value}, RSA)) == f"{name} is missing, or not text"


@pytest.mark.parametrize("name", ["iss", "sub", "aud", "jti"])
def test_all_names_are_required(name: str) -> None:
    assert refusal(encode(without(CLAIMS, name), RSA)) == f"{name} is missing, or not text"


@pytest.mark.parametrize("audience", ["content", "contentapi ", "CONTENTAPI", "contentapi,other", "other"])
def test_another_audience_is_refused(audience: str) -> None:
    assert refusal(encode({**CLAIMS, "aud": audience}, RSA)) == "aud is different"


@pytest.mark.parametrize("issuer", [f"{ISSUER}/", ISSUER.upper(), "https://evil.invalid"])
def test_another_issuer_is_refused(issuer: str) -> None:
    assert refusal(encode({**CLAIMS, "iss": issuer}, RSA)) == "iss is different"


# --- Form -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "token",
    [None, b"", encode(CLAIMS, RSA).encode(), 7, [], {}, object(), True, 1.5],
    ids=lambda token: type(token).__name__,
)
def test_what_is_no_text_is_refused(token: Any) -> None:
    assert refusal(token) == "not text"


@pytest.mark.parametrize(
    "token",
    ["", "a", "a.b", "a.b.c.d", "a.b.c.d.e", encode(CLAIMS, RSA) + ".", "." + encode(CLAIMS, RSA)],
    ids=range(7),
)
def test_what_has_not_three_parts_is_refused(token: str) -> None:
    assert refusal(token) == "not three parts"


@pytest.mark.parametrize(
    "garbage", ["..", "a.b.c", "\0.\0.\0", "é.é.é", "\ud800.a.b", "e30.e30.", "e30.e30.e30", "=.=.=", "1.1.1"]
)
def test_garbage_is_refused(garbage: str) -> None:
    assert refusal(garbage)


@pytest.mark.parametrize("part", [0, 1, 2])
@pytest.mark.parametrize("sort", ["=", "==", " ", "\n", "\0", "+", "/", "é", "\u200b", "*", "A"])
@pytest.mark.parametrize("where", ["before", "after"])
def test_a_part_with_more_in_it_is_refused(part: int, sort: str, where: str) -> None:
    parts = encode(CLAIMS, RSA).split(".")
    parts[part] = sort + parts[part] if where == "before" else parts[part] + sort

    assert refusal(".".join(parts))


def test_a_signature_in_another_spelling_is_refused() -> None:
    token = encode(CLAIMS, RSA)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    respelt = token[:-1] + alphabet[alphabet.index(token[-1]) ^ 1]

    assert jws.verify(respelt, RSA.verifier, algorithms=["RS256"])
    assert refusal(respelt) == "base64url is not canonical"


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_a_deep_header_or_payload_is_refused(opening: str) -> None:
    deep = opening * 100_000
    cut = opening * (4000 // len(opening))

    assert refusal(forged(deep, CLAIMS)) == "too long"
    assert refusal(forged(cut, CLAIMS)).startswith("unreadable: ")
    assert refusal(forged(header(), cut)).startswith("unreadable: ")


def test_a_token_may_have_as_many_characters_as_the_cap_and_no_more() -> None:
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
def test_a_part_that_is_no_object_is_refused(text: str) -> None:
    assert refusal(forged(text, CLAIMS)) == "not an object"
    assert refusal(forged(header(), text)) == "not an object"


@pytest.mark.parametrize("text", ["", "{", "{}x", "{'a': 1}", "\ufeff{}", "{,}", "NaN"])
def test_a_part_that_is_no_json_is_refused(text: str) -> None:
    assert refusal(forged(text, CLAIMS))
    assert refusal(forged(header(), text))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
def test_another_encoding_than_utf_8_is_refused(encoding: str) -> None:
    parts = [base64url(json.dumps(part).encode(encoding)) for part in (header(), CLAIMS)]
    signed = ".".join(parts)

    assert refusal(f"{signed}.{base64url(RSA.signer.sign(signed.encode()))}").startswith("unreadable: ")


def test_a_member_that_stands_twice_is_refused() -> None:
    twice_alg = json.dumps(header())[:-1] + ', "alg": "none"}'
    twice_sub = json.dumps(CLAIMS)[:-1] + ', "sub": "1"}'
    twice_within = json.dumps(CLAIMS)[:-1] + ', "deep": {"a": [{"b": 1, "b": 2}]}}'

    assert refusal(forged(twice_alg, CLAIMS)) == "duplicate member"
    assert refusal(forged(header(), twice_sub)) == "duplicate member"
    assert refusal(forged(header(), twice_within)) == "duplicate member"


def test_no_reason_repeats_the_token() -> None:
    for token in (encode(CLAIMS, OTHER), forged("x" * 500, CLAIMS), forged(header(), "hush" * 100), "hush." * 7):
        reason = refusal(token)

        assert len(reason) < 50
        assert "hush" not in reason
