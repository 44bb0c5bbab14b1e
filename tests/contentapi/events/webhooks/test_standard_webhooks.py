"""The library of Standard Webhooks accepts what the sender signs, and nothing else."""

import base64

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from contentapi.events.webhooks.signing import list_keys
from tests.contentapi.events.webhooks.hooks import make_hook, send_all
from tests.factories import make_post
from tests.receiver_behaviours import accept
from tests.webhook_receivers import Received, Receiver

OTHER = "whsec_" + base64.b64encode(bytes(32)).decode()
ODD = "“Storm”, 👩🏽‍🚀 e\u0301 \u2028 </script> \\u0000"

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("local_receivers")]


def is_accepted(secret: str, request: Received, **headers: str) -> bool:
    changed = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        Webhook(secret).verify(request.body, {**request.headers, **changed})
    except WebhookVerificationError:
        return False
    return True


def test_library_verifies_an_event_and_refuses_what_is_changed() -> None:
    with Receiver(accept) as receiver:
        webhook = make_hook(receiver.url)
        make_post(title=ODD)
        send_all()
        *_, request = receiver.received
    (secret,) = list_keys(webhook)

    assert Webhook(secret).verify(request.body, request.headers)["data"]["title"] == ODD
    assert not is_accepted(OTHER, request)
    assert not is_accepted(secret, request._replace(body=request.body + b" "))
    assert not is_accepted(secret, request, webhook_id="evt_other")
    stamp = int(request.headers["webhook-timestamp"])
    for timestamp in (stamp - 1, stamp - 600, stamp + 600):
        assert not is_accepted(secret, request, webhook_timestamp=str(timestamp))
