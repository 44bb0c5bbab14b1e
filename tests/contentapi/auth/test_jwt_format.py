"""Tokens in another format: parts, encodings, JSON and length."""

import json
from typing import Any

import pytest
from jose import jws

from contentapi.auth.jwt import MAX_TOKEN, encode
from tests.contentapi.auth.tokens import (
    CLAIMS,
    OTHER,
    RSA,
    base64url,
    build_header,
    forge_token,
    get_rejection_reason,
    verify_token,
)


@pytest.mark.parametrize(
    "token",
    [None, b"", encode(CLAIMS, RSA).encode(), 7, [], {}, object(), True, 1.5],
    ids=lambda token: type(token).__name__,
)
def test_value_that_is_not_text_is_rejected(token: Any) -> None:
    assert get_rejection_reason(token) == "not text"


@pytest.mark.parametrize(
    "token",
    ["", "a", "a.b", "a.b.c.d", "a.b.c.d.e", encode(CLAIMS, RSA) + ".", "." + encode(CLAIMS, RSA)],
    ids=range(7),
)
def test_token_without_three_parts_is_rejected(token: str) -> None:
    assert get_rejection_reason(token) == "not three parts"


@pytest.mark.parametrize(
    "garbage", ["..", "a.b.c", "\0.\0.\0", "é.é.é", "\ud800.a.b", "e30.e30.", "e30.e30.e30", "=.=.=", "1.1.1"]
)
def test_garbage_is_rejected(garbage: str) -> None:
    assert get_rejection_reason(garbage)


@pytest.mark.parametrize("part", [0, 1, 2])
@pytest.mark.parametrize("extra", ["=", "==", " ", "\n", "\0", "+", "/", "é", "\u200b", "*", "A"])
@pytest.mark.parametrize("where", ["before", "after"])
def test_part_with_an_extra_character_is_rejected(part: int, extra: str, where: str) -> None:
    parts = encode(CLAIMS, RSA).split(".")
    parts[part] = extra + parts[part] if where == "before" else parts[part] + extra

    assert get_rejection_reason(".".join(parts))


def test_signature_in_another_encoding_is_rejected() -> None:
    token = encode(CLAIMS, RSA)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    reencoded = token[:-1] + alphabet[alphabet.index(token[-1]) ^ 1]

    assert jws.verify(reencoded, RSA.verifier, algorithms=["RS256"])
    assert get_rejection_reason(reencoded) == "base64url is not canonical"


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_deep_header_or_payload_is_rejected(opening: str) -> None:
    deep = opening * 100_000
    cut = opening * (4000 // len(opening))

    assert get_rejection_reason(forge_token(deep, CLAIMS)) == "too long"
    assert get_rejection_reason(forge_token(cut, CLAIMS)).startswith("unreadable: ")
    assert get_rejection_reason(forge_token(build_header(), cut)).startswith("unreadable: ")


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
    assert verify_token(at_most)["jti"] == "one"
    assert get_rejection_reason(of_length(MAX_TOKEN + 1)) == "too long"


@pytest.mark.parametrize("text", ["[]", "null", "7", '"text"', "true", "[{}]"])
def test_part_that_is_not_an_object_is_rejected(text: str) -> None:
    assert get_rejection_reason(forge_token(text, CLAIMS)) == "not an object"
    assert get_rejection_reason(forge_token(build_header(), text)) == "not an object"


@pytest.mark.parametrize("text", ["", "{", "{}x", "{'a': 1}", "\ufeff{}", "{,}", "NaN"])
def test_part_that_is_not_json_is_rejected(text: str) -> None:
    assert get_rejection_reason(forge_token(text, CLAIMS))
    assert get_rejection_reason(forge_token(build_header(), text))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
def test_encoding_other_than_utf_8_is_rejected(encoding: str) -> None:
    parts = [base64url(json.dumps(part).encode(encoding)) for part in (build_header(), CLAIMS)]
    signed = ".".join(parts)

    assert get_rejection_reason(f"{signed}.{base64url(RSA.signer.sign(signed.encode()))}").startswith("unreadable: ")


def test_duplicate_member_is_rejected() -> None:
    twice_alg = json.dumps(build_header())[:-1] + ', "alg": "none"}'
    twice_sub = json.dumps(CLAIMS)[:-1] + ', "sub": "1"}'
    twice_nested = json.dumps(CLAIMS)[:-1] + ', "deep": {"a": [{"b": 1, "b": 2}]}}'

    assert get_rejection_reason(forge_token(twice_alg, CLAIMS)) == "duplicate member"
    assert get_rejection_reason(forge_token(build_header(), twice_sub)) == "duplicate member"
    assert get_rejection_reason(forge_token(build_header(), twice_nested)) == "duplicate member"


def test_message_does_not_contain_the_token() -> None:
    for token in (
        encode(CLAIMS, OTHER),
        forge_token("x" * 500, CLAIMS),
        forge_token(build_header(), "hush" * 100),
        "hush." * 7,
    ):
        reason = get_rejection_reason(token)

        assert len(reason) < 50
        assert "hush" not in reason
