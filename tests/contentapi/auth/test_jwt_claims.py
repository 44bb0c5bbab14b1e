"""The times and the identity claims of a token."""

import json
from typing import Any

import pytest

from contentapi.auth.jwt import encode
from contentapi.conf.timeouts import CLOCK_LEEWAY, MAX_IAT_LEAD, TOKEN_MAX_LIFETIME
from tests.contentapi.auth.tokens import (
    CLAIMS,
    ISSUER,
    NOW,
    RSA,
    build_header,
    forge_token,
    get_rejection_reason,
    omit,
    verify_token,
)

# --- Times ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("late", "valid"),
    [
        (-1, True),
        (0, True),
        (CLOCK_LEEWAY - 1, True),
        (CLOCK_LEEWAY - 0.001, True),
        (CLOCK_LEEWAY, False),
        (CLOCK_LEEWAY + 1, False),
    ],
)
def test_token_is_valid_until_exp_plus_leeway(late: float, *, valid: bool) -> None:
    token, now = encode(CLAIMS, RSA), CLAIMS["exp"] + late  # type: ignore[operator]

    if valid:
        assert verify_token(token, now=now) == CLAIMS
    else:
        assert get_rejection_reason(token, now=now) == "expired"


NOT_NUMBERS: list[Any] = [None, True, False, "1800000000", "1e3", "", [], {}, [NOW], "NaN"]


@pytest.mark.parametrize("name", ["exp", "iat", "nbf"])
@pytest.mark.parametrize("value", NOT_NUMBERS, ids=repr)
def test_time_that_is_not_a_number_is_rejected(name: str, value: Any) -> None:
    assert get_rejection_reason(encode({**CLAIMS, name: value}, RSA)) == f"{name} is missing, or not a number"


@pytest.mark.parametrize("name", ["exp", "iat", "nbf"])
@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_time_that_is_not_finite_is_rejected(name: str, text: str) -> None:
    payload = json.dumps({**CLAIMS, name: "here"}).replace('"here"', text)

    assert get_rejection_reason(forge_token(build_header(), payload)) == "NaN or Infinity"


@pytest.mark.parametrize("text", ["1e308", "1e999", "-1e999", "9" * 400, "9" * 5000, "-1", "0", "1e-400"])
@pytest.mark.parametrize("name", ["exp", "iat"])
def test_extreme_time_is_rejected(name: str, text: str) -> None:
    payload = json.dumps({**CLAIMS, name: "here"}).replace('"here"', text)

    assert get_rejection_reason(forge_token(build_header(), payload))


@pytest.mark.parametrize("name", ["exp", "iat"])
def test_exp_and_iat_are_required(name: str) -> None:
    assert get_rejection_reason(encode(omit(CLAIMS, name), RSA)) == f"{name} is missing, or not a number"


@pytest.mark.parametrize(
    ("lifetime", "valid"), [(TOKEN_MAX_LIFETIME, True), (TOKEN_MAX_LIFETIME + 1, False), (10**9, False)]
)
def test_lifetime_of_more_than_a_day_is_rejected(lifetime: int, *, valid: bool) -> None:
    claims = {**CLAIMS, "exp": NOW + lifetime}

    if valid:
        assert verify_token(encode(claims, RSA)) == claims
    else:
        assert get_rejection_reason(encode(claims, RSA)) == "lifetime is too long"


@pytest.mark.parametrize(("ahead", "valid"), [(MAX_IAT_LEAD, True), (MAX_IAT_LEAD + 1, False), (10**6, False)])
def test_iat_more_than_a_minute_in_the_future_is_rejected(ahead: int, *, valid: bool) -> None:
    claims = {**CLAIMS, "iat": NOW + ahead, "exp": NOW + ahead + 600}

    if valid:
        assert verify_token(encode(claims, RSA)) == claims
    else:
        assert get_rejection_reason(encode(claims, RSA)) == "iat is in the future"


@pytest.mark.parametrize(("ahead", "valid"), [(-100, True), (CLOCK_LEEWAY, True), (CLOCK_LEEWAY + 1, False)])
def test_nbf_in_the_future_is_rejected(ahead: int, *, valid: bool) -> None:
    claims = {**CLAIMS, "nbf": NOW + ahead}

    if valid:
        assert verify_token(encode(claims, RSA)) == claims
    else:
        assert get_rejection_reason(encode(claims, RSA)) == "nbf is in the future"


def test_times_may_have_fractions() -> None:
    claims = {**CLAIMS, "iat": NOW - 0.5, "exp": NOW + 1.25}

    assert verify_token(encode(claims, RSA)) == claims


# --- Identity claims ------------------------------------------------------------------------------------


NO_TEXTS: list[Any] = [None, "", 7, True, ["contentapi", None], {"a": 1}, "a\0b", "\ud800"]


@pytest.mark.parametrize("name", ["iss", "sub", "aud", "jti"])
@pytest.mark.parametrize("value", NO_TEXTS, ids=repr)
def test_identity_claim_that_is_not_text_is_rejected(name: str, value: Any) -> None:
    assert get_rejection_reason(encode({**CLAIMS, name: value}, RSA)) == f"{name} is missing, or not text"


@pytest.mark.parametrize("name", ["iss", "sub", "aud", "jti"])
def test_all_identity_claims_are_required(name: str) -> None:
    assert get_rejection_reason(encode(omit(CLAIMS, name), RSA)) == f"{name} is missing, or not text"


@pytest.mark.parametrize("audience", [["contentapi"], ["https://other.invalid", "contentapi"]])
def test_one_audience_of_several_may_be_ours(audience: list[str]) -> None:
    claims = {**CLAIMS, "aud": audience}

    assert verify_token(encode(claims, RSA)) == claims
    assert verify_token(encode(claims, RSA)) == claims  # from the cache


@pytest.mark.parametrize("audience", ["content", "contentapi ", "CONTENTAPI", "contentapi,other", [], ["contentap"]])
def test_other_audience_is_rejected(audience: Any) -> None:
    assert get_rejection_reason(encode({**CLAIMS, "aud": audience}, RSA)) == "aud is different"


@pytest.mark.parametrize("issuer", [f"{ISSUER}/", ISSUER.upper(), "https://evil.invalid"])
def test_other_issuer_is_rejected(issuer: str) -> None:
    assert get_rejection_reason(encode({**CLAIMS, "iss": issuer}, RSA)) == "iss is different"
