"""Encryption of what the database stores for a while and must not reveal, such as responses with secrets."""

import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from contentapi.core.keyed_hash import derive_key

NONCE = 12  # bytes


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
