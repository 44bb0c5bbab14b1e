"""Keyed hashes of texts: signatures, and digests that nobody can compute without SECRET_KEY."""

import hmac

from django.conf import settings


def derive_key(purpose: str) -> bytes:
    """Return the key for one purpose. Hashes for different purposes cannot replace each other."""
    return hmac.digest(settings.SECRET_KEY.encode(), purpose.encode(), "sha256")


def compute_keyed_hash(purpose: str, text: str) -> bytes:
    """Return the HMAC-SHA-256 of a text."""
    return hmac.digest(derive_key(purpose), text.encode(), "sha256")
