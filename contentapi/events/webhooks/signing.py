"""Secrets and signatures, as Standard Webhooks 1.0 describes them.

A secret is `whsec_` and 32 random bytes in Base64. The signature is the HMAC-SHA-256 of `<id>.<timestamp>.<body>`. See
https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Sequence

from contentapi.core.encryption import decrypt, encrypt

PREFIX = "whsec_"
SIZE = 32  # bytes; 24 to 64 are allowed
PURPOSE = "contentapi.webhooks.secret"


def make_secret() -> str:
    return PREFIX + b64encode(secrets.token_bytes(SIZE)).decode()


def encrypt_secret(secret: str, webhook_id: int) -> bytes:
    return encrypt(PURPOSE, secret.encode(), str(webhook_id))


def decrypt_secret(encrypted: bytes | memoryview, webhook_id: int) -> str | None:
    """Return the secret; None if it is encrypted with another SECRET_KEY."""
    found = decrypt(PURPOSE, bytes(encrypted), str(webhook_id))
    return None if found is None else found.decode()


def sign(keys: Sequence[str], message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the three headers of an attempt, with a signature for each secret."""
    content = b"%s.%d.%s" % (message_id.encode(), timestamp, body)
    signatures = [hmac.digest(b64decode(key.removeprefix(PREFIX)), content, "sha256") for key in keys]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(f"v1,{b64encode(signature).decode()}" for signature in signatures),
    }
