"""The places of a sender: what receivers do holds up no others."""

import pytest

from contentapi.db.statements import execute
from contentapi.events.webhooks import sender as sender_module
from contentapi.events.webhooks.sender import Sender
from tests.contentapi.events.webhooks.hooks import list_states, make_hook, send_all
from tests.event_log import relay
from tests.factories import make_author
from tests.receiver_behaviours import accept, delay, hang, respond
from tests.webhook_receivers import Receiver

MAKE_AUTHORS = """
    INSERT INTO blog_author (name, bio, avatar_url, email, created_at)
    SELECT 'Ada', '', '', '', now() FROM generate_series(1, %s)
"""
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("local_receivers")]


def make_authors(count: int) -> None:
    execute(MAKE_AUTHORS, [count])


def test_webhook_gets_eight_requests_at_a_time_and_one_while_it_fails() -> None:
    with Receiver(delay(0.02)) as receiver:
        webhook = make_hook(receiver.url)
        make_authors(70)
        send_all()
        assert 1 < receiver.most_open <= 8

        receiver.behave = delay(0.01, respond(500))
        make_author()
        send_all()
        receiver.most_open = 0
        make_authors(10)
        send_all()

    assert receiver.most_open == 1
    assert list_states(webhook) == 70 * ["delivered"] + 11 * ["waiting"]


def test_receiver_that_hangs_takes_eight_places_and_nothing_from_the_others() -> None:
    with Receiver(hang) as hanging, Receiver(accept) as receiver:
        bad, good = make_hook(hanging.url), make_hook(receiver.url)
        make_authors(70)
        relay()
        sender = Sender()
        sender.do_round()
        while len(receiver.received) < 70:
            sender.collect(0.05)
            sender.do_round()
        assert sender.batches[bad.pk].places == 8
        assert len(hanging.received) <= 8
        sender.collect(0.05)
        sender.do_round()
        assert set(list_states(good)) == {"delivered"}
    sender.finish()
    assert set(list_states(bad)) == {"waiting"}


def test_sender_without_a_free_place_claims_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender_module, "PLACES", 1)
    with Receiver(hang) as hanging:
        hooks = [make_hook(hanging.url), make_hook(hanging.url)]
        make_author()
        relay()
        sender = Sender()
        sender.do_round()
        sender.do_round()

        assert len(sender.batches.keys() & {hook.pk for hook in hooks}) == 1
    sender.finish()
