"""The library of Standard Webhooks accepts what the sender signs, and nothing else."""

import base64
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from contentapi.core.identity import OPERATOR
from contentapi.events.webhooks import models
from contentapi.events.webhooks.resending import ping_webhook
from contentapi.events.webhooks.services import rotate_secret
from contentapi.events.webhooks.signing import decrypt_secret
from tests.contentapi.events.webhooks.hooks import make_hook, send_all
from tests.factories import make_post
from tests.receiver_behaviours import accept
from tests.webhook_receivers import Received, Receiver

OTHER = "whsec_" + base64.b64encode(bytes(32)).decode()
ODD = "“Storm”, 👩🏽‍🚀 e\u0301 \u2028 </script> \\u0000"

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("local_receivers")]


def make_secret_hook(url: str, **values: Any) -> tuple[models.Webhook, str]:
    """Return a new webhook and its secret."""
    webhook = make_hook(url, **values)
    secret = decrypt_secret(webhook.secret, webhook.pk)
    assert secret is not None
    return webhook, secret


def is_accepted(secret: str, request: Received, **headers: str) -> bool:
    changed = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        Webhook(secret).verify(request.body, {**request.headers, **changed})
    except WebhookVerificationError:
        return False
    return True


def test_library_verifies_an_event_and_refuses_what_is_changed() -> None:
    with Receiver(accept) as receiver:
        _, secret = make_secret_hook(receiver.url)
        make_post(title=ODD)
        send_all()
        *_, request = receiver.received

    assert Webhook(secret).verify(request.body, request.headers)["data"]["title"] == ODD
    assert not is_accepted(OTHER, request)
    assert not is_accepted(secret, request._replace(body=request.body + b" "))
    assert not is_accepted(secret, request, webhook_id="evt_other")
    stamp = int(request.headers["webhook-timestamp"])
    for timestamp in (stamp - 1, stamp - 600, stamp + 600):
        assert not is_accepted(secret, request, webhook_timestamp=str(timestamp))


def test_both_secrets_verify_for_a_day_after_a_rotation() -> None:
    with Receiver(accept) as receiver:
        webhook, first = make_secret_hook(receiver.url)
        second = rotate_secret(actor=OPERATOR, webhook_id=str(webhook.pk)).secret
        third = rotate_secret(actor=OPERATOR, webhook_id=str(webhook.pk)).secret
        ping_webhook(actor=OPERATOR, webhook_id=str(webhook.pk))
        send_all()
        (request,) = receiver.received

    assert [is_accepted(secret, request) for secret in (first, second, third)] == [False, True, True]
