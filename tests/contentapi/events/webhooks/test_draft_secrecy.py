"""Random actions on drafts: no byte of what is not public is in an anonymous feed, nor in a webhook of a reader."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import rule

from blog.services import edit_post
from contentapi.core.identity import ALL_SCOPES, OPERATOR, Role
from contentapi.events.webhooks.bodies import read_bodies
from contentapi.events.webhooks.deliveries import claim, find_webhooks, record
from contentapi.events.webhooks.models import Webhook
from contentapi.events.webhooks.retries import judge
from contentapi.events.webhooks.sending import ReceivedResponse
from contentapi.events.webhooks.services import create_webhook
from tests.contentapi.events.draft_machine import POST_FIELDS, DraftMachine
from tests.event_log import relay
from tests.factories import make_post, make_user
from tests.thoroughness import run_machine

pytestmark = pytest.mark.django_db
SELECTION = f"""
fragment PostData on Post {{ {POST_FIELDS} }}
fragment CommentData on Comment {{ body author {{ posts {{ title slug }} }} }}
"""


def make_reader_hook(role: Role = Role.READER, **values: Any) -> Webhook:
    given = {"types": ["post.*", "comment.*"], "scopes": ALL_SCOPES, "url": "https://hooks.example.com/", **values}
    return create_webhook(actor=OPERATOR, name="Reader", maker_id=make_user(role).pk, **given).webhook


def deliver() -> list[dict[str, Any]]:
    """Return the bodies of what is due, and let it be delivered."""
    relay()
    sent, lease = [], uuid4()
    while found := find_webhooks():
        for pk in found:
            claimed = claim(lease, pk)
            assert claimed is not None
            bodies = read_bodies(*claimed)
            sent += [json.loads(bodies[each.pk]) for each in claimed.deliveries if each.pk in bodies]
            record(lease, pk, [judge(each, ReceivedResponse(204), timezone.now(), 0.1) for each in claimed.deliveries])
    return sent


class WebhookMachine(DraftMachine):
    """The same actions, and three webhooks, which get at once what the public may read now."""

    def __init__(self) -> None:
        super().__init__()
        Webhook.objects.all().delete()  # of the example before
        make_reader_hook()
        make_reader_hook(selection=SELECTION)
        make_reader_hook(Role.ADMIN, selection=SELECTION, scopes=[])

    @rule(is_new=st.booleans())
    def read(self, is_new: bool) -> None:  # noqa: FBT001
        super().read(is_new)
        text = json.dumps(deliver())
        assert not [word for word in self.list_hidden_words() if word in text]


@pytest.mark.property
def test_feed_and_webhooks_of_a_reader_have_nothing_of_a_draft() -> None:
    run_machine(WebhookMachine, 200)


def test_webhook_of_a_reader_gets_what_becomes_public_and_then_its_id_only() -> None:
    relay()
    make_reader_hook(types=["post.*"], scopes=[])
    post = make_post(status="draft", title="Hidden")
    events = deliver()
    for status, title in (("published", "Shown"), ("draft", "Hidden again"), ("draft", "Hidden for long")):
        edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"status": status, "title": title})
        events += deliver()

    found = [(event["type"], event["subject"], event["data"] and event["data"]["title"]) for event in events]
    assert found == [("post.published", str(post.pk), "Shown"), ("post.unpublished", str(post.pk), None)]
