"""Keyed hashes of texts: signatures, and digests that nobody can compute without SECRET_KEY."""

import hmac
from hashlib import sha256

from django.conf import settings


def derive_key(purpose: str) -> bytes:
    """Return the key for one purpose. Hashes for different purposes cannot replace each other."""
    return sha256(f"{purpose}:{settings.SECRET_KEY}".encode()).digest()


def compute_keyed_hash(purpose: str, text: str) -> bytes:
    """Return the HMAC-SHA-256 of a text."""
    return hmac.digest(derive_key(purpose), text.encode(), "sha256")
