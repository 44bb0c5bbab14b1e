"""Keyed hashes of texts, and encryption of what the database must not reveal: nobody can do both without SECRET_KEY."""

import hmac
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

NONCE = 12  # bytes


def derive_key(purpose: str) -> bytes:
    """Return the key for one purpose. Hashes for different purposes cannot replace each other."""
    return hmac.digest(settings.SECRET_KEY.encode(), purpose.encode(), "sha256")


def compute_keyed_hash(purpose: str, text: str) -> bytes:
    """Return the HMAC-SHA-256 of a text."""
    return hmac.digest(derive_key(purpose), text.encode(), "sha256")


def encrypt(purpose: str, content: bytes, context: str) -> bytes:
    """Return the content in a form that nobody can read or change without SECRET_KEY.

    `decrypt` needs the same context, such as the key of the row: so the rows of a table cannot replace each other.
    """
    nonce = os.urandom(NONCE)
    return nonce + AESGCM(derive_key(purpose)).encrypt(nonce, content, context.encode())


def decrypt(purpose: str, encrypted: bytes, context: str) -> bytes | None:
    """Return the content that `encrypt` was given; None if it is encrypted with another SECRET_KEY, or changed."""
    nonce, content = encrypted[:NONCE], encrypted[NONCE:]
    try:
        return AESGCM(derive_key(purpose)).decrypt(nonce, content, context.encode())
    except (InvalidTag, ValueError):  # a nonce that is too short
        return None
