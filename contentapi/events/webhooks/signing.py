"""Secrets and signatures, as Standard Webhooks 1.0 describes them.

A secret is `whsec_` and 32 random bytes in Base64. The signature is the HMAC-SHA-256 of `<id>.<timestamp>.<body>`. See
https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Sequence

from django.utils import timezone

from contentapi.core.encryption import decrypt, encrypt
from contentapi.events.webhooks.models import Webhook

PREFIX = "whsec_"
SIZE = 32  # bytes; 24 to 64 are allowed
PURPOSE = "contentapi.webhooks.secret"


class UnreadableSecret(Exception):
    """The secret of a webhook is encrypted with another SECRET_KEY."""


def make_secret() -> str:
    return PREFIX + b64encode(secrets.token_bytes(SIZE)).decode()


def encrypt_secret(secret: str, webhook_id: int) -> bytes:
    return encrypt(PURPOSE, secret.encode(), str(webhook_id))


def decrypt_secret(encrypted: bytes | memoryview, webhook_id: int) -> str | None:
    """Return the secret; None if it is encrypted with another SECRET_KEY."""
    found = decrypt(PURPOSE, bytes(encrypted), str(webhook_id))
    return None if found is None else found.decode()


def list_keys(webhook: Webhook) -> list[str]:
    """Return the secrets that sign: in the time after a rotation, two. Raises `UnreadableSecret`."""
    stored = [webhook.secret]
    if webhook.previous_secret is not None and webhook.previous_until and webhook.previous_until > timezone.now():
        stored.append(webhook.previous_secret)
    keys = [key for secret in stored if (key := decrypt_secret(secret, webhook.pk)) is not None]
    if not keys:
        raise UnreadableSecret("The secret cannot be decrypted: SECRET_KEY is another one. Rotate the secret.")
    return keys


def sign(keys: Sequence[str], message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the three headers of an attempt, with a signature for each secret."""
    content = b"%s.%d.%s" % (message_id.encode(), timestamp, body)
    signatures = [hmac.digest(b64decode(key.removeprefix(PREFIX)), content, "sha256") for key in keys]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(f"v1,{b64encode(signature).decode()}" for signature in signatures),
    }
