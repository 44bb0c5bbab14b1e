"""Generated tokens, compared with PyJWT: it accepts each token that we accept, and our stricter rules are listed."""

import json
import time
from typing import Any

import jwt as pyjwt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from contentapi.auth.jwk import Key
from contentapi.auth.jwt import Claims, TokenError, encode, verify
from contentapi.conf.timeouts import CLOCK_LEEWAY, MAX_IAT_LEAD
from tests.contentapi.auth.tokens import ISSUER, KEYS, RSA, SECRET, SHARED, base64url
from tests.thoroughness import scale_examples

AUDIENCE = "contentapi"
MATERIAL = {"RS256": RSA.verifier.prepared_key, "HS256": SECRET}

# The messages of our rules that PyJWT does not have.
STRICTER = {
    "alg is not the key's",
    "aud is missing, or not text",  # in an array beside ours
    "base64url is not canonical",
    "exp is missing, or not a number",  # a text with digits, or a bool
    "a header parameter that access tokens must not have",
    "iat is missing, or not a number",
    "jti is missing, or not text",  # the empty one
    "lifetime is too long",
    "nbf is missing, or not a number",
    "no such key",
    "sub is missing, or not text",
    "unreadable: DuplicateKey",
    "typ is not at+jwt",
}

TEXTS = some.text(max_size=20)
VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | TEXTS | some.floats(allow_nan=False, allow_infinity=False),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


def verify_token(token: str, now: float) -> Claims:
    return verify(token, KEYS.get, is_issuer=ISSUER.__eq__, audience=AUDIENCE, now=now)


def get_rejection_reason(token: str, now: float) -> str:
    """Return why we reject a token, or an empty string."""
    try:
        verify_token(token, now)
    except TokenError as reason:
        return str(reason)
    return ""


@pytest.mark.property
@given(
    key=some.sampled_from([RSA, SHARED]),
    names=some.tuples(TEXTS.filter(bool), TEXTS.filter(bool)).filter(lambda pair: "\0" not in "".join(pair)),
    issued=some.integers(-600, MAX_IAT_LEAD),
    life=some.integers(600 - CLOCK_LEEWAY + 1, 80_000),
    more=some.dictionaries(
        TEXTS.filter(lambda name: name not in {"iss", "aud", "sub", "jti", "iat", "exp", "nbf"}), VALUES
    ),
)
def test_encoded_token_is_verified_with_equal_claims(
    key: Key, names: tuple[str, str], issued: int, life: int, more: dict[str, Any]
) -> None:
    now = 1_800_000_000
    times = {"iat": now + issued, "exp": now + issued + life}
    claims = {**more, **times, "iss": ISSUER, "aud": AUDIENCE, "sub": names[0], "jti": names[1]}

    token = encode(claims, key)

    assert verify_token(token, now) == claims


def test_change_at_any_position_of_a_token_is_rejected() -> None:
    now = 1_800_000_000
    token = encode({"iss": ISSUER, "aud": AUDIENCE, "sub": "7", "jti": "one", "iat": now, "exp": now + 600}, SHARED)

    for place, character in enumerate(token):
        for other in {"A", "Q", "g", "_", ".", "=", chr(ord(character) ^ 1)} - {character}:
            assert get_rejection_reason(token[:place] + other + token[place + 1 :], now)
        assert get_rejection_reason(token[:place] + token[place + 1 :], now)


# --- Compared with PyJWT --------------------------------------------------------------------------------

# Seconds from now, at least five from each limit, because PyJWT reads the clock itself.
OFFSETS = some.sampled_from(
    [-200_000, -86_000, -3600, -100, -40, -20, -1, 0, 10, 20, 40, 50, 70, 100, 3600, 86_000, 200_000]
)


def times(now: int) -> some.SearchStrategy[Any]:
    valid = OFFSETS.map(lambda offset: now + offset)
    odd: some.SearchStrategy[Any] = some.sampled_from([None, True, "", [], 1e308, -1, 10**30])
    return valid | valid.map(float) | valid.map(str) | odd


def members(draw: Any, usual: dict[str, Any], odd: dict[str, some.SearchStrategy[Any]]) -> str:
    """Return an object as JSON: the usual members, some of them omitted, odd or duplicated."""
    change = draw(some.lists(some.sampled_from(sorted(odd)), max_size=2, unique=True))
    chosen = {**usual, **{name: draw(odd[name]) for name in change}}
    left_out = draw(some.sampled_from([*usual, *[None] * 20]))
    text = json.dumps({name: value for name, value in chosen.items() if name != left_out})
    twice = draw(some.sampled_from([*usual, *[None] * 20]))
    return text if twice is None else f"{text[:-1]}, {json.dumps({twice: usual[twice]})[1:]}"


@some.composite
def tokens(draw: Any) -> str:
    """Return a signed token that is valid or nearly valid."""
    now = int(time.time())
    alg, kid, key = draw(some.sampled_from([("RS256", RSA.kid, RSA), ("HS256", SHARED.kid, SHARED)]))
    names = some.sampled_from(["", "7", AUDIENCE, ISSUER, 7, None, True, [AUDIENCE], [], {"a": 1}])
    header = members(
        draw,
        {"alg": alg, "kid": kid, "typ": "at+jwt"},
        {
            "alg": some.sampled_from(["RS256", "HS256", "none", None, "RS512"]),
            "kid": some.sampled_from([RSA.kid, SHARED.kid, "other", 7, None]),
            "typ": some.sampled_from(["JWT", "AT+JWT", "application/at+jwt", 7, None]),
            "crit": some.sampled_from([[], ["exp"], ["b64"], None]),
            "b64": some.booleans(),
            "zip": some.just("DEF"),
            "jwk": some.just(RSA.public_jwk),
            "x": VALUES,
        },
    )
    payload = members(
        draw,
        {"iss": ISSUER, "aud": AUDIENCE, "sub": "7", "jti": "one", "iat": now, "exp": now + 600},
        {
            **dict.fromkeys(("iss", "aud", "sub", "jti"), names),
            **dict.fromkeys(("iat", "exp", "nbf"), times(now)),
            "x": VALUES,
        },
    )
    signed = ".".join(base64url(part.encode()) for part in (header, payload))
    signature = base64url(key.signer.sign(signed.encode()))
    return f"{signed}.{draw(some.sampled_from([signature] * 8 + [signature + '=', signature[:-2], '']))}"


def pyjwt_accepts(token: str) -> bool:
    """Return whether PyJWT accepts a token, with our leeway for each time."""
    return is_decoded(token, leeway=CLOCK_LEEWAY, verify_iat=False) and is_decoded(
        token, leeway=MAX_IAT_LEAD, verify_iat=True
    )


def is_decoded(token: str, *, leeway: int, verify_iat: bool) -> bool:
    for algorithm, material in MATERIAL.items():
        try:
            pyjwt.decode(
                token,
                material,
                algorithms=[algorithm],
                audience=AUDIENCE,
                issuer=ISSUER,
                leeway=leeway,
                options={"require": ["exp", "iat", "sub", "jti", "aud", "iss"], "verify_iat": verify_iat},
            )
        except Exception:  # noqa: BLE001, S112 - PyJWT raises other exceptions for some tokens
            continue
        return True
    return False


@pytest.mark.property
@settings(max_examples=scale_examples(2000))
@given(token=tokens())
@example(token=encode({"iss": ISSUER, "aud": AUDIENCE, "sub": "7", "jti": "one", "iat": 0, "exp": 600}, RSA))
def test_token_that_only_one_library_accepts_breaks_a_stricter_rule(token: str) -> None:
    reason = get_rejection_reason(token, time.time())

    if not reason:
        assert pyjwt_accepts(token)
    elif pyjwt_accepts(token):
        assert reason in STRICTER


def test_both_libraries_accept_a_valid_token() -> None:
    now = int(time.time())
    for key in (RSA, SHARED):
        token = encode({"iss": ISSUER, "aud": AUDIENCE, "sub": "7", "jti": "one", "iat": now, "exp": now + 600}, key)

        assert (get_rejection_reason(token, now), pyjwt_accepts(token)) == ("", True)
