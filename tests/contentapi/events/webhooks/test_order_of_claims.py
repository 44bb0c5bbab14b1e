"""Senders that claim, send and record in any order, and lose their leases: compared with a model of queues.

Events of one object arrive in order at one webhook, and an object whose attempts fail blocks only itself. No event is
lost, whichever sender ends when.
"""

from collections import defaultdict
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID, uuid4

import pytest
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from blog.models import Author
from contentapi.conf.timeouts import WEBHOOK_RETRIES
from contentapi.core.identity import OPERATOR
from contentapi.db.statements import execute
from contentapi.events.models import Event
from contentapi.events.webhooks import deliveries
from contentapi.events.webhooks.deliveries import MOST_TAKEN, claim, find_webhooks, record
from contentapi.events.webhooks.models import Delivery, Webhook
from contentapi.events.webhooks.retries import judge
from contentapi.events.webhooks.sending import ReceivedResponse
from contentapi.events.webhooks.services import edit_webhook
from tests.contentapi.events.webhooks.hooks import make_due, make_hook
from tests.event_log import relay
from tests.factories import make_author
from tests.thoroughness import run_machine

SENDERS, HOOKS, AUTHORS = 3, 2, 3
senders, hooks, authors = (st.integers(0, number - 1) for number in (SENDERS, HOOKS, AUTHORS))


class Sent(NamedTuple):
    """An attempt that is not recorded yet."""

    delivery: Delivery
    status: int


class Claimer:
    """A sender: what it has taken, what it has sent and not recorded."""

    def __init__(self) -> None:
        self.lease = uuid4()
        self.taken: list[Delivery] = []
        self.sent: list[Sent] = []

    def has_sent(self, webhook: Webhook) -> bool:
        return any(each.delivery.webhook_id == webhook.pk for each in self.sent)


class Queues:
    """What the model knows of a webhook: the positions that wait for each object, and those that failed last."""

    def __init__(self, webhook: Webhook) -> None:
        self.webhook = webhook
        self.planned = webhook.position
        self.waiting: dict[int, list[int]] = defaultdict(list)
        self.failed: set[int] = set()  # objects that wait for their next attempt
        self.lease: UUID | None = None
        self.is_live = False  # the lease has not ended
        self.is_enabled = True
        self.arrived: dict[int, list[int]] = defaultdict(list)

    @property
    def may_be_claimed(self) -> bool:
        return self.is_enabled and (self.lease is None or not self.is_live)

    def plan(self) -> None:
        events = Event.objects.filter(position__gt=self.planned, type="author.updated")
        for position, subject in events.values_list("position", "subject_id"):
            self.waiting[subject].append(position)
            self.planned = max(self.planned, position)
        for positions in self.waiting.values():
            positions.sort()

    def list_due(self) -> set[int]:
        """Return the first position of each object that is not waiting for its next attempt."""
        return {queue[0] for subject, queue in self.waiting.items() if queue and subject not in self.failed}

    def record(self, sent: Sent) -> None:
        position, subject = sent.delivery.position, sent.delivery.subject_id
        assert position is not None
        assert subject is not None
        if position not in self.waiting[subject]:  # another sender has recorded it
            return
        assert self.waiting[subject][0] == position
        is_last = sent.delivery.tries + 1 > len(WEBHOOK_RETRIES)
        if sent.status == 204 or is_last:
            self.waiting[subject].pop(0)
            self.failed.discard(subject)
        else:
            self.failed.add(subject)


class ClaimMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.authors = [make_author() for _ in range(AUTHORS)]
        self.queues = [Queues(make_hook()) for _ in range(HOOKS)]
        self.senders = [Claimer() for _ in range(SENDERS)]

    @rule(author=authors, times=st.integers(1, 3))
    def edit(self, author: int, times: int) -> None:
        for number in range(times):
            Author.objects.filter(pk=self.authors[author].pk).update(bio=f"{uuid4()} {number}")
        relay()

    @rule(sender=senders, hook=hooks)
    def claim(self, sender: int, hook: int) -> None:
        self.claim_as(self.senders[sender], self.queues[hook])

    def claim_as(self, sender: Claimer, queues: Queues) -> None:
        pk = queues.webhook.pk
        if sender.has_sent(queues.webhook):
            return  # a sender records first
        claimed = claim(sender.lease, pk)
        assert (claimed is not None) is queues.may_be_claimed
        if claimed is not None:
            queues.lease, queues.is_live = sender.lease, True
            queues.plan()
            due = queues.list_due()
            found = [each.position for each in claimed.deliveries]
            size = 1 if claimed.webhook.failing_since else MOST_TAKEN
            assert len(set(found)) == len(found) == min(size, len(due))
            assert set(found) <= due
            sender.taken += claimed.deliveries

    @rule(sender=senders, status=st.sampled_from([204, 204, 500]))
    def send(self, sender: int, status: int) -> None:
        """Send what the sender has taken first."""
        claimer = self.senders[sender]
        if claimer.taken:
            delivery = claimer.taken.pop(0)
            (queues,) = [each for each in self.queues if each.webhook.pk == delivery.webhook_id]
            assert delivery.position is not None
            assert delivery.subject_id is not None
            queues.arrived[delivery.subject_id].append(delivery.position)
            claimer.sent.append(Sent(delivery, status))

    @rule(sender=senders)
    def record(self, sender: int) -> None:
        self.record_as(self.senders[sender])

    def record_as(self, sender: Claimer) -> None:
        """Record what was sent of each webhook, which ends its lease. What was not sent is forgotten."""
        for queues in self.queues:
            mine = [each for each in sender.sent if each.delivery.webhook_id == queues.webhook.pk]
            results = [judge(each.delivery, ReceivedResponse(each.status), timezone.now(), 0.1) for each in mine]
            assert record(sender.lease, queues.webhook.pk, results)
            if queues.lease == sender.lease:
                queues.lease = None
                for each in mine:
                    queues.record(each)
        sender.sent.clear()
        sender.taken.clear()

    @rule(hook=hooks)
    def end_lease(self, hook: int) -> None:
        """Nobody sends what was taken with this lease; what was sent may be recorded late."""
        queues = self.queues[hook]
        Webhook.objects.filter(pk=queues.webhook.pk).update(leased_until=timezone.now() - timedelta(seconds=1))
        queues.is_live = False
        for sender in self.senders:
            sender.taken = [each for each in sender.taken if each.webhook_id != queues.webhook.pk]

    @rule(hook=hooks)
    def let_time_pass(self, hook: int) -> None:
        """Let the time of all next attempts come."""
        make_due(self.queues[hook].webhook)
        self.queues[hook].failed.clear()

    @rule(hook=hooks)
    def use_up_attempts(self, hook: int) -> None:
        """Let the next attempt of each delivery be the last one."""
        self.queues[hook].webhook.deliveries.filter(state="waiting").update(tries=len(WEBHOOK_RETRIES))

    @rule(hook=hooks)
    def enable(self, hook: int) -> None:
        """Disable a webhook, or enable it: then everything is due that waits for an attempt."""
        queues = self.queues[hook]
        queues.is_enabled = not queues.is_enabled
        changes = {"enabled": queues.is_enabled}
        edit_webhook(actor=OPERATOR, webhook_id=str(queues.webhook.pk), changes=changes)
        if queues.is_enabled:
            queues.failed.clear()

    def teardown(self) -> None:
        """Assert that a new sender sends everything that is due, and the rest when its time has come.

        Senders stop as after SIGTERM but one, which is killed.
        """
        for sender in range(1, SENDERS):
            self.record(sender)
        for number, queues in enumerate(self.queues):
            if queues.lease is not None:
                self.end_lease(number)
            if not queues.is_enabled:
                self.enable(number)
        self.send_all()
        assert not [each for each in self.queues if each.list_due()]
        for number in range(HOOKS):
            self.end_lease(number)
            self.let_time_pass(number)
        self.send_all()
        for queues in self.queues:
            assert not any(queues.waiting.values())
            for subject, arrived in queues.arrived.items():
                assert arrived == sorted(arrived)
                assert set(arrived) == set(
                    queues.webhook.deliveries.filter(subject_id=subject).values_list("position", flat=True)
                )
            queues.webhook.delete()

    def send_all(self) -> None:
        """Do what `Sender` does until it finds nothing to do."""
        sender = Claimer()
        self.senders.append(sender)
        while found := find_webhooks():
            for queues in self.queues:
                if queues.webhook.pk in found:
                    self.claim_as(sender, queues)
            while sender.taken:
                self.send(len(self.senders) - 1, 204)
            self.record_as(sender)
        self.senders.pop()


@pytest.mark.property
@pytest.mark.django_db
@pytest.mark.usefixtures("no_retry_by_itself")
def test_events_arrive_in_order_whatever_senders_do(monkeypatch: pytest.MonkeyPatch) -> None:
    # No lease ends by itself, however busy the machine is.
    monkeypatch.setattr(deliveries, "CLAIM", deliveries.CLAIM.replace("interval '60.0 seconds'", "interval '1 day'"))
    execute("DELETE FROM events_webhook")
    run_machine(ClaimMachine, 50, steps=100)
