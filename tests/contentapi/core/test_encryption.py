"""Encryption with a key that is derived from SECRET_KEY."""

import pytest
from pytest_django import Settings

from contentapi.core.encryption import decrypt, encrypt

SECRET = b"cap_0123"


@pytest.mark.parametrize("content", [b"", SECRET, bytes(range(256)) * 100])
def test_content_is_read_with_the_same_key_purpose_and_context(content: bytes) -> None:
    assert decrypt("letters", encrypt("letters", content, "1"), "1") == content


def test_encrypted_content_reveals_nothing_and_differs_each_time() -> None:
    first, second = (encrypt("letters", SECRET, "1") for _ in range(2))

    assert SECRET not in first
    assert first != second


def test_content_of_another_purpose_or_context_or_that_was_changed_is_not_read(settings: Settings) -> None:
    encrypted = encrypt("letters", SECRET, "1")

    assert decrypt("parcels", encrypted, "1") is None
    assert decrypt("letters", encrypted, "2") is None
    assert decrypt("letters", b"", "1") is None
    assert decrypt("letters", encrypted[:-1] + bytes([encrypted[-1] ^ 1]), "1") is None
    settings.SECRET_KEY = "another secret"
    assert decrypt("letters", encrypted, "1") is None
