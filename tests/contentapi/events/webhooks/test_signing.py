"""Secrets and signatures. No test here uses the database."""

from base64 import b64decode
from datetime import UTC, datetime, timedelta

import pytest
import standardwebhooks
from django.utils import timezone

from contentapi.events.webhooks.models import Webhook
from contentapi.events.webhooks.signing import (
    UnreadableSecret,
    decrypt_secret,
    encrypt_secret,
    list_keys,
    make_secret,
    sign,
)

# The signature below was computed by `openssl dgst -sha256 -mac hmac`.
ZEROS = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
BODY = '{"a": "é"}'.encode()


def test_secret_has_32_random_bytes() -> None:
    secrets = {make_secret() for _ in range(100)}

    assert len(secrets) == 100
    assert all(secret.startswith("whsec_") and len(b64decode(secret[6:])) == 32 for secret in secrets)


def test_secret_is_stored_encrypted_and_for_its_webhook_alone() -> None:
    secret = make_secret()
    encrypted = encrypt_secret(secret, 7)

    assert secret.encode() not in encrypted
    assert b64decode(secret[6:]) not in encrypted
    assert decrypt_secret(encrypted, 7) == secret
    assert decrypt_secret(memoryview(encrypted), 7) == secret
    assert decrypt_secret(encrypted, 8) is None
    assert decrypt_secret(encrypted[:-1] + bytes([encrypted[-1] ^ 1]), 7) is None
    assert encrypt_secret(secret, 7) != encrypted


def test_headers_of_an_attempt() -> None:
    headers = sign([ZEROS], "evt_1", 1_700_000_000, BODY)

    assert headers == {
        "webhook-id": "evt_1",
        "webhook-timestamp": "1700000000",
        "webhook-signature": "v1,vOJbbbWpxz8Im2rDzAgAu3RJ4GwJKa9kfPajzHIELAA=",
    }


@pytest.mark.parametrize("number", [1, 2])
def test_each_secret_has_a_signature_that_the_library_makes_too(number: int) -> None:
    secrets = [make_secret() for _ in range(number)]
    time = datetime(2026, 11, 26, 12, tzinfo=UTC)

    headers = sign(secrets, "evt_1", int(time.timestamp()), BODY)

    expected = [standardwebhooks.Webhook(secret).sign("evt_1", time, BODY.decode()) for secret in secrets]
    assert headers["webhook-signature"].split(" ") == expected


def test_former_secret_signs_until_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    webhook = Webhook(pk=7, secret=encrypt_secret("whsec_new", 7))
    assert list_keys(webhook) == ["whsec_new"]

    webhook.previous_until = now + timedelta(seconds=1)
    assert list_keys(webhook) == ["whsec_new"]
    webhook.previous_secret = encrypt_secret("whsec_old", 7)
    assert list_keys(webhook) == ["whsec_new", "whsec_old"]
    webhook.previous_until = now
    assert list_keys(webhook) == ["whsec_new"]
    webhook.previous_until = None
    assert list_keys(webhook) == ["whsec_new"]


def test_secret_of_another_key_cannot_be_read() -> None:
    message = r"^The secret cannot be decrypted: SECRET_KEY is another one\. Rotate the secret\.$"
    with pytest.raises(UnreadableSecret, match=message):
        list_keys(Webhook(pk=7, secret=encrypt_secret("whsec_new", 8)))
