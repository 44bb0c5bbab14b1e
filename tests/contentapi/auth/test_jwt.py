"""Valid tokens, and tokens that use weaknesses of python-jose (docs/decisions/0025-jwt-library.md)."""

from typing import Any

import jwt as pyjwt
import pytest
from jose import jws

from contentapi.auth.jwk import Key
from contentapi.auth.jwt import encode
from tests.contentapi.auth.tokens import (
    CLAIMS,
    KEYS,
    OTHER,
    RSA,
    SECRET,
    SHARED,
    build_header,
    forge_token,
    get_public_forms,
    get_rejection_reason,
    omit,
    verify_token,
)

# --- Valid tokens ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [RSA, SHARED], ids=["RS256", "HS256"])
def test_encoded_token_is_verified(key: Key) -> None:
    claims = {**CLAIMS, "name": "Inés \U0001f3b5", "role": "author", "custom": {"a": [1, None, True]}}

    token = encode(claims, key)

    assert verify_token(token) == claims
    assert pyjwt.get_unverified_header(token) == {"alg": key.algorithm, "kid": key.kid, "typ": "at+jwt"}


def test_token_signed_by_the_secret_needs_no_kid() -> None:
    token = forge_token({"alg": "HS256", "typ": "at+jwt"}, CLAIMS, SECRET)

    assert verify_token(token) == CLAIMS


@pytest.mark.parametrize("typ", ["at+jwt", "AT+JWT", "application/at+jwt"])
def test_typ_may_be_a_media_type_in_any_case(typ: str) -> None:
    assert verify_token(forge_token(build_header(typ=typ), CLAIMS)) == CLAIMS


def test_public_key_alone_verifies() -> None:
    public = Key.from_pem(RSA.public_pem)

    assert verify_token(encode(CLAIMS, RSA), keys={public.kid: public}) == CLAIMS


# --- Algorithms and keys --------------------------------------------------------------------------------


@pytest.mark.parametrize("alg", ["none", "None", "NONE", "nOnE", "", None, 0, ["RS256"], {"RS256": 1}])
def test_missing_or_none_algorithm_is_rejected(alg: Any) -> None:
    signed = forge_token(build_header(alg=alg), CLAIMS)

    assert get_rejection_reason(signed) == "alg is not the key's"
    assert get_rejection_reason(signed.rpartition(".")[0] + ".") == "alg is not the key's"
    assert get_rejection_reason(forge_token(omit(build_header(), "alg"), CLAIMS)) == "alg is not the key's"


@pytest.mark.parametrize(
    "alg", ["RS384", "RS512", "PS256", "ES256", "HS256", "HS512", "rs256", "RS256 ", "HS256,RS256"]
)
def test_algorithm_other_than_that_of_the_key_is_rejected(alg: str) -> None:
    assert get_rejection_reason(forge_token(build_header(alg=alg), CLAIMS)) == "alg is not the key's"


@pytest.mark.parametrize(("form", "secret"), get_public_forms().items(), ids=list(get_public_forms()))
@pytest.mark.parametrize("kid", [RSA.kid, SHARED.kid, None], ids=["RSA", "secret", "none"])
def test_public_key_is_not_used_as_a_secret(form: str, secret: bytes, kid: str | None) -> None:  # noqa: ARG001 - the test's id
    named = build_header(alg="HS256", kid=kid)
    token = forge_token(named if kid else omit(named, "kid"), CLAIMS, secret)

    assert get_rejection_reason(token) in ("alg is not the key's", "signature is wrong")


def test_python_jose_alone_accepts_the_public_key_in_der_as_a_secret() -> None:
    der = get_public_forms()["DER"]
    token = forge_token(build_header(alg="HS256"), CLAIMS, der)

    assert jws.verify(token, der, algorithms=None)
    assert get_rejection_reason(token) == "alg is not the key's"


@pytest.mark.parametrize("kid", [OTHER.kid, "", RSA.kid[:-1], RSA.kid.upper(), "../1", "\0", "\ud800"], ids=range(7))
def test_unknown_key_is_rejected(kid: str) -> None:
    assert get_rejection_reason(forge_token(build_header(kid=kid), CLAIMS)) == "no such key"


@pytest.mark.parametrize("kid", [None, 0, True, ["x"], {"x": 1}, 1.5])
def test_kid_that_is_not_text_is_rejected(kid: Any) -> None:
    assert get_rejection_reason(forge_token(build_header(kid=kid), CLAIMS)) == "kid is not text"


def test_token_of_an_rsa_key_needs_a_kid() -> None:
    assert get_rejection_reason(forge_token(omit(build_header(), "kid"), CLAIMS)) == "alg is not the key's"
    assert get_rejection_reason(forge_token(omit(build_header(), "kid"), CLAIMS), keys={RSA.kid: RSA}) == "no such key"


def test_only_the_key_of_the_kid_is_tried() -> None:
    keys = {**KEYS, OTHER.kid: OTHER}

    token = forge_token(build_header(kid=OTHER.kid), CLAIMS, RSA.signer)

    assert get_rejection_reason(token, keys=keys) == "signature is wrong"


def test_key_in_the_header_is_not_used() -> None:
    for members in ({"jwk": OTHER.public_jwk}, {"jku": "https://evil.invalid/"}, {"x5c": ["x"]}, {"x5u": "x"}):
        token = forge_token(build_header(**members), CLAIMS, OTHER.signer)

        assert get_rejection_reason(token) == "a header parameter that access tokens must not have"


@pytest.mark.parametrize("name", ["crit", "b64", "jku", "jwk", "x5u", "x5c", "zip"])
@pytest.mark.parametrize("value", [None, False, "", [], ["exp"], "DEF", {}])
def test_header_parameters_that_change_the_meaning_are_rejected(name: str, value: Any) -> None:
    token = forge_token(build_header(**{name: value}), CLAIMS)

    assert get_rejection_reason(token) == "a header parameter that access tokens must not have"
    assert jws.verify(token, RSA.verifier, algorithms=["RS256"])


@pytest.mark.parametrize(
    "typ", ["JWT", "jwt", "at+jwt ", "id+jwt", "logout+jwt", "", None, 1, ["at+jwt"], "application/jwt"]
)
def test_other_type_of_token_is_rejected(typ: Any) -> None:
    assert get_rejection_reason(forge_token(build_header(typ=typ), CLAIMS)) == "typ is not at+jwt"
    assert get_rejection_reason(forge_token(omit(build_header(), "typ"), CLAIMS)) == "typ is not at+jwt"
