"""Fixtures of signing keys."""

from itertools import count

import pytest
from cryptography.hazmat.primitives import serialization

from contentapi.auth.jwk import Key
from tests.contentapi.auth.signing_keys import generate_key, read_key


@pytest.fixture
def known_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test the same keys in the same order: to generate or to check one takes 50 milliseconds."""
    numbers = count()
    monkeypatch.setattr(Key, "generate", lambda: generate_key(next(numbers)))
    monkeypatch.setattr(serialization, "load_pem_private_key", read_key)
