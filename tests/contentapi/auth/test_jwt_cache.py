"""The cache of verified tokens: it saves the verification of the signature, and nothing else."""

from typing import Any

import pytest

from contentapi.auth import jwt
from contentapi.auth.jwk import Key
from contentapi.auth.jwt import VERIFIED_TOKENS, TokenError, encode
from contentapi.conf.timeouts import CLOCK_LEEWAY
from tests.contentapi.auth.tokens import CLAIMS, KEYS, NOW, OTHER, RSA, SHARED, get_rejection_reason, verify_token


@pytest.fixture
def signature_is_never_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("the signature is verified again")

    monkeypatch.setattr(jwt, "verify_signature", fail)


def encode_and_cache(key: Key = RSA, **claims: Any) -> str:
    """Return a token that is in the cache."""
    token = encode({**CLAIMS, **claims}, key)
    assert verify_token(token) == {**CLAIMS, **claims}
    return token


@pytest.mark.parametrize("key", [RSA, SHARED], ids=lambda key: key.algorithm)
def test_signature_is_verified_once(key: Key, request: pytest.FixtureRequest) -> None:
    token = encode_and_cache(key)
    request.getfixturevalue("signature_is_never_verified")

    assert verify_token(token) == CLAIMS


def test_times_are_checked_again() -> None:
    assert get_rejection_reason(encode_and_cache(), now=NOW + 600 + CLOCK_LEEWAY) == "expired"
    assert get_rejection_reason(encode_and_cache(nbf=NOW), now=NOW - CLOCK_LEEWAY - 1) == "nbf is in the future"


def test_audience_and_issuer_are_checked_again() -> None:
    token = encode_and_cache()

    with pytest.raises(TokenError, match="aud is different"):
        jwt.verify(token, KEYS.get, is_issuer=lambda _: True, audience="another", now=NOW)
    with pytest.raises(TokenError, match="iss is different"):
        jwt.verify(token, KEYS.get, is_issuer=lambda _: False, audience="contentapi", now=NOW)


def test_token_of_a_removed_key_is_rejected_at_once() -> None:
    assert get_rejection_reason(encode_and_cache(), keys={}) == "no such key"


def test_other_key_with_the_same_id_is_noticed() -> None:
    assert get_rejection_reason(encode_and_cache(), keys={RSA.kid: OTHER}) == "signature is wrong"


def test_cached_claims_cannot_be_changed() -> None:
    claims: Any = verify_token(encode_and_cache())

    with pytest.raises(TypeError):
        claims["sub"] = "8"


def test_token_with_another_signature_is_not_in_the_cache() -> None:
    token = encode_and_cache()
    head, _, signature = token.rpartition(".")

    assert get_rejection_reason(f"{head}.{signature[:-4]}AAAA") == "signature is wrong"


def test_only_tokens_that_our_keys_signed_are_stored() -> None:
    VERIFIED_TOKENS.clear()
    get_rejection_reason(encode(CLAIMS, OTHER))
    get_rejection_reason("a.b.c")

    assert VERIFIED_TOKENS.weight == 0


def test_cache_stays_within_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(VERIFIED_TOKENS, "limit", 20_000)
    VERIFIED_TOKENS.clear()

    for number in range(40):
        encode_and_cache(SHARED, jti=f"{number}")
        assert VERIFIED_TOKENS.weight <= 20_000

    assert VERIFIED_TOKENS.weight > 10_000
