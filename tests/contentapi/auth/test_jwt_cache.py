"""Tokens that were verified before: spared the signature, and nothing else."""

from typing import Any

import pytest

from contentapi.auth import jwt
from contentapi.auth.jwk import Key
from contentapi.auth.jwt import LEEWAY, VERIFIED_TOKENS, TokenError, encode
from tests.contentapi.auth.test_jwt import CLAIMS, KEYS, NOW, OTHER, RSA, SHARED, refusal, verified


@pytest.fixture
def signature_is_never_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("the signature is verified again")

    monkeypatch.setattr(jwt, "verify_signature", fail)


def known(key: Key = RSA, **claims: Any) -> str:
    """Return a token that was good once."""
    token = encode({**CLAIMS, **claims}, key)
    assert verified(token) == {**CLAIMS, **claims}
    return token


@pytest.mark.parametrize("key", [RSA, SHARED], ids=lambda key: key.algorithm)
def test_a_signature_is_verified_once(key: Key, request: pytest.FixtureRequest) -> None:
    token = known(key)
    request.getfixturevalue("signature_is_never_verified")

    assert verified(token) == CLAIMS


def test_times_are_looked_at_each_time() -> None:
    assert refusal(known(), now=NOW + 600 + LEEWAY) == "expired"
    assert refusal(known(nbf=NOW), now=NOW - LEEWAY - 1) == "nbf is in the future"


def test_audience_and_issuer_are_looked_at_each_time() -> None:
    token = known()

    with pytest.raises(TokenError, match="aud is different"):
        jwt.verify(token, KEYS, is_issuer=lambda _: True, audience="another", now=NOW)
    with pytest.raises(TokenError, match="iss is different"):
        jwt.verify(token, KEYS, is_issuer=lambda _: False, audience="contentapi", now=NOW)


def test_a_key_that_is_gone_is_heeded_at_once() -> None:
    assert refusal(known(), keys={}) == "no such key"


def test_another_key_under_the_same_id_has_not_signed_it() -> None:
    assert refusal(known(), keys={RSA.kid: OTHER}) == "signature is wrong"


def test_nothing_can_be_made_of_the_claims_that_the_next_would_see() -> None:
    claims: Any = verified(known())

    with pytest.raises(TypeError):
        claims["sub"] = "8"


def test_a_token_of_another_signature_is_another() -> None:
    token = known()
    head, _, signature = token.rpartition(".")

    assert refusal(f"{head}.{signature[:-4]}AAAA") == "signature is wrong"


def test_only_what_a_key_of_ours_has_signed_is_kept() -> None:
    VERIFIED_TOKENS.clear()
    refusal(encode(CLAIMS, OTHER))
    refusal("a.b.c")

    assert VERIFIED_TOKENS.weight == 0


def test_no_more_is_kept_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(VERIFIED_TOKENS, "limit", 20_000)
    VERIFIED_TOKENS.clear()

    for number in range(40):
        known(SHARED, jti=f"{number}")
        assert VERIFIED_TOKENS.weight <= 20_000

    assert VERIFIED_TOKENS.weight > 10_000
