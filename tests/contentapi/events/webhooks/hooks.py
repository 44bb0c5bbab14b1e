"""Webhooks of tests, and senders that send until nothing is due."""

from threading import Event as StopEvent
from time import monotonic
from typing import Any

from contentapi.core.identity import ALL_SCOPES, Actor, Role
from contentapi.db.statements import execute
from contentapi.events.webhooks import services
from contentapi.events.webhooks.models import Delivery, Webhook
from contentapi.events.webhooks.sender import Sender
from tests.environment import set_environment
from tests.event_log import relay
from tests.factories import make_actor

LOCAL = {"CONTENTAPI_WEBHOOK_NETWORKS": "127.0.0.0/8"}
PATIENCE = 60.0


def allow_local_receivers(settings: Any, **variables: str) -> None:
    set_environment(settings, **LOCAL, **variables)


def make_hook(url: str = "https://hooks.example.com/", *, actor: Actor | None = None, **values: Any) -> Webhook:
    """Return a new webhook for posts and authors, which has all rights of an admin."""
    relay()  # what was before is not sent
    actor = actor or make_actor(Role.ADMIN, scopes=set(ALL_SCOPES))
    defaults = {"name": "Site", "types": ["post.*", "author.*"]}
    return services.create_webhook(actor=actor, url=url, **{**defaults, **values}).webhook


def send_all(sender: Sender | None = None) -> Sender:
    """Move the events to the log, and send until nothing is due. What waits for later stays."""
    relay()
    sender = sender or Sender()
    end = monotonic() + PATIENCE
    sender.run(StopEvent())
    while sender.batches:
        assert monotonic() < end, "the sender does not come to an end"
        sender.run(StopEvent())
    return sender


def list_deliveries(webhook: Webhook) -> list[Delivery]:
    return list(Delivery.objects.filter(webhook=webhook).order_by("pk"))


def list_states(webhook: Webhook) -> list[str]:
    return [delivery.state for delivery in list_deliveries(webhook)]


def make_due(webhook: Webhook) -> None:
    """Let the time of all next attempts come."""
    execute("UPDATE events_delivery SET due_at = now() WHERE webhook_id = %s AND due_at IS NOT NULL", [webhook.pk])
    execute("UPDATE events_webhook SET due_at = now() WHERE id = %s", [webhook.pk])
