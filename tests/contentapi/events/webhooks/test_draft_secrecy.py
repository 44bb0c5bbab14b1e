"""Random actions on drafts: no byte of what is not public is sent for a reader, nor to a webhook without scopes."""

import pytest
from hypothesis.stateful import rule

from blog.services import edit_post
from contentapi.core.identity import ALL_SCOPES, OPERATOR, Role
from contentapi.events.webhooks.models import Webhook
from contentapi.events.webhooks.sender import Sender
from contentapi.events.webhooks.services import create_webhook
from contentapi.rate_limits.account import COUNTERS
from tests.contentapi.events.test_draft_secrecy import POST_FIELDS, DraftMachine
from tests.contentapi.events.webhooks.hooks import send_all
from tests.event_log import relay
from tests.factories import make_post, make_user
from tests.receiver_behaviours import accept
from tests.thoroughness import run_machine
from tests.webhook_receivers import Receiver

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("local_receivers")]
SELECTION = f"""
fragment PostData on Post {{ {POST_FIELDS} }}
fragment CommentData on Comment {{ body author {{ posts {{ title slug }} }} }}
"""


class WebhookMachine(DraftMachine):
    """The same actions, and a receiver of three webhooks in place of the reader of the feed."""

    receiver: Receiver

    def __init__(self) -> None:
        super().__init__()
        self.checked = len(self.receiver.received)
        self.sender = Sender()
        Webhook.objects.all().delete()  # of the example before
        reader, admin = make_user(Role.READER), make_user(Role.ADMIN)
        hooks = [(reader, ALL_SCOPES, ""), (reader, ALL_SCOPES, SELECTION), (admin, frozenset[str](), SELECTION)]
        for maker, scopes, selection in hooks:
            create_webhook(
                actor=OPERATOR,
                name="Reader",
                url=self.receiver.url,
                types=["post.*", "comment.*"],
                selection=selection,
                scopes=scopes,
                maker_id=maker.pk,
            )

    @rule()
    def read(self, is_new: bool = True) -> None:  # noqa: ARG002, FBT001, FBT002
        """Send what is new, and check it at once: it is what the public may read now."""
        send_all(self.sender)
        COUNTERS.clear()
        received = self.receiver.received
        for request in received[self.checked :]:
            text = request.body.decode()
            assert not [word for word in self.list_hidden_words() if word in text]
        self.checked = len(received)


@pytest.mark.property
def test_webhook_of_a_reader_gets_nothing_of_a_draft() -> None:
    with Receiver(accept) as receiver:
        WebhookMachine.receiver = receiver
        run_machine(WebhookMachine, 200)


def test_webhook_of_a_reader_gets_what_becomes_public_and_then_its_id_only() -> None:
    with Receiver(accept) as receiver:
        relay()
        reader = make_user(Role.READER)
        types = ["post.*"]
        create_webhook(actor=OPERATOR, name="Reader", url=receiver.url, types=types, scopes=[], maker_id=reader.pk)
        post = make_post(status="draft", title="Hidden")
        sender = send_all()
        for status, title in (("published", "Shown"), ("draft", "Hidden again"), ("draft", "Hidden for long")):
            edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"status": status, "title": title})
            send_all(sender)
        events = [request.event for request in receiver.received]

    found = [(event["type"], event["subject"], event["data"] and event["data"]["title"]) for event in events]
    assert found == [("post.published", str(post.pk), "Shown"), ("post.unpublished", str(post.pk), None)]
