"""What a sender needs to send deliveries: the secrets that sign, and the bodies, or the reason why there are none."""

import logging
from collections.abc import Sequence

from django.db import connection, transaction
from django.utils import timezone

from contentapi.conf.timeouts import WEBHOOK_BODY_TIMEOUT
from contentapi.core.errors import ApiError
from contentapi.core.identity import Actor
from contentapi.events.webhooks.bodies import build_ping, read_bodies
from contentapi.events.webhooks.claims import Claimed
from contentapi.events.webhooks.models import PING, Delivery, Webhook
from contentapi.events.webhooks.planning import read_batch
from contentapi.events.webhooks.selections import Selection
from contentapi.events.webhooks.signing import decrypt_secret
from contentapi.projection.selections import SelectedFieldError

LOG = logging.getLogger("contentapi.worker")
BODY_LIMIT = f"SET LOCAL statement_timeout = '{WEBHOOK_BODY_TIMEOUT}s'"  # meanwhile, no other webhook is supplied


class UnreadableSecret(Exception):
    """The secret of a webhook is encrypted with another SECRET_KEY."""


def list_keys(webhook: Webhook) -> list[str]:
    """Return the secrets that sign: in the time after a rotation, two. Raises `UnreadableSecret`."""
    stored = [webhook.secret]
    if webhook.previous_secret is not None and webhook.previous_until and webhook.previous_until > timezone.now():
        stored.append(webhook.previous_secret)
    keys = [decrypt_secret(secret, webhook.pk) for secret in stored]
    readable = [key for key in keys if key is not None]
    if not readable:
        raise UnreadableSecret("The secret cannot be decrypted: SECRET_KEY is another one. Rotate the secret.")
    return readable


def read_bodies_of(
    webhook: Webhook, actor: Actor, selection: Selection, deliveries: Sequence[Claimed | Delivery]
) -> dict[int, bytes]:
    """Return the body of each delivery by its id, without those that the webhook may not see any more.

    In a transaction: a statement that fails ends nothing else.
    """
    bodies = {each.id: build_ping(webhook.pk, each.created_at) for each in deliveries if each.type == PING}
    positions = {each.position: each.id for each in deliveries if each.first is None and each.position is not None}
    if len(bodies) == len(deliveries):
        return bodies
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(BODY_LIMIT)
        for each in deliveries:
            if each.first is not None and each.position is not None:
                body = read_batch(webhook, actor, each.first, each.position, each.created_at)
                bodies |= {} if body is None else {each.id: body}
        found = read_bodies(actor, selection, positions)
    return bodies | {positions[position]: body for position, body in found.items()}


def describe_failure(error: Exception) -> str:
    """Return the reason for the maker of a webhook. The texts of PostgreSQL are for the log only."""
    if isinstance(error, SelectedFieldError):
        error = error.cause
    if isinstance(error, ApiError):
        return f"The event could not be read: {error.message}"
    LOG.warning("An event for a webhook could not be read: %s: %s", type(error).__name__, error)
    return "The event could not be read: the log of the server says why."
