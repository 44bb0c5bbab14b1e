"""Reads of webhooks and their deliveries: for admins all of them."""

from collections.abc import Collection

from django.db.models import QuerySet

from contentapi.core import policy
from contentapi.core.errors import require_found
from contentapi.core.identity import Actor
from contentapi.core.pagination import Position, parse_id
from contentapi.db.literals import TextLiteral
from contentapi.events.webhooks.models import Delivery, DeliveryState, Webhook
from contentapi.projection import (
    NEWEST_FIRST,
    OLDEST_FIRST,
    ConnectionQuery,
    Ordering,
    Rows,
    build_ordered_connection,
    parametrised,
)

WEBHOOK_SORT_FIELDS = {"createdAt": OLDEST_FIRST}
DELIVERY_SORT_FIELDS = {"createdAt": OLDEST_FIRST}


def require_management(actor: Actor, action: str) -> None:
    """Raise `Unauthenticated` or `Forbidden` unless the actor may manage webhooks. Call this before the look-up."""
    policy.require_permission(actor, policy.may_manage_webhooks(actor), action)


def select_webhooks(actor: Actor, after: Position | None = None) -> Rows[Webhook]:
    """Return webhooks, newest first, from after a position. Raises `Unauthenticated` and `Forbidden`."""
    require_management(actor, "list webhooks")
    return select_newest_webhooks(actor, after=after and after.value, after_pk=after and after.id)


@parametrised(Webhook)
def select_newest_webhooks(actor: Actor, *, after: str | None, after_pk: int | None) -> QuerySet[Webhook]:
    webhooks = Webhook.objects.filter(policy.visible_webhooks(actor)).order_by(*NEWEST_FIRST.terms())
    return webhooks if after is None else webhooks.filter(NEWEST_FIRST.beyond(after, after_pk))


def build_webhooks_connection(
    actor: Actor, *, order_by: Ordering | None = None, **window: str | int
) -> ConnectionQuery:
    """Return a page of webhooks. Raises `Unauthenticated`, `Forbidden` and `Malformed`."""
    require_management(actor, "list webhooks")
    return build_ordered_connection("webhooks", select_visible_webhooks(actor), order_by or NEWEST_FIRST, **window)


@parametrised(Webhook)
def select_visible_webhooks(actor: Actor) -> QuerySet[Webhook]:
    return Webhook.objects.filter(policy.visible_webhooks(actor))


def select_webhook_by_id(actor: Actor, webhook_id: str) -> Rows[Webhook]:
    """Return the webhook with this id, or none. Raises `Unauthenticated` and `Forbidden`, whatever the id."""
    require_management(actor, "read webhooks")
    return select_webhook_node(actor, webhook_id)


def select_webhook_node(actor: Actor, webhook_id: str) -> Rows[Webhook]:
    """Return the webhook with this id, or none. `node` gets the ids of all types, so no permission is required."""
    return select_visible_webhook(actor, pk=parse_id(webhook_id))


@parametrised(Webhook)
def select_visible_webhook(actor: Actor, *, pk: int) -> QuerySet[Webhook]:
    if not policy.may_manage_webhooks(actor):  # the statement of a node then looks for no webhook
        return Webhook.objects.none()
    return Webhook.objects.filter(policy.visible_webhooks(actor), pk=pk)


def get_webhook(actor: Actor, webhook_id: str) -> Webhook:
    """Return the webhook with this id. Raises `Unauthenticated`, `Forbidden` and `NotFound`."""
    return require_found(select_webhook_by_id(actor, webhook_id).queryset().first(), "webhook")


def select_deliveries(
    actor: Actor, webhook_id: str, *, state: DeliveryState | None = None, after: Position | None = None
) -> Rows[Delivery]:
    """Return the deliveries of a webhook, newest first, from after a position.

    Raises `Unauthenticated` and `Forbidden`.
    """
    require_management(actor, "read deliveries")
    position = {"after": after and after.value, "after_pk": after and after.id}
    return select_newest_deliveries(actor, webhook=parse_id(webhook_id), state=state, **position)


@parametrised(Delivery)
def select_newest_deliveries(
    actor: Actor, *, webhook: int, state: DeliveryState | None, after: str | None, after_pk: int | None
) -> QuerySet[Delivery]:
    deliveries = filter_deliveries(Delivery.objects.filter(webhook=webhook), actor, state=state)
    deliveries = deliveries.order_by(*NEWEST_FIRST.terms())
    return deliveries if after is None else deliveries.filter(NEWEST_FIRST.beyond(after, after_pk))


def filter_deliveries(
    deliveries: QuerySet[Delivery], actor: Actor, *, state: DeliveryState | None
) -> QuerySet[Delivery]:
    """Return those that the actor may see, in a state."""
    deliveries = deliveries.filter(policy.visible_webhooks(actor))
    return deliveries if state is None else deliveries.filter(state=TextLiteral(state.value))


def select_delivery_by_id(actor: Actor, delivery_id: str, *, webhook_id: str | None = None) -> Rows[Delivery]:
    """Return the delivery with this id, of this webhook if one is given, or none.

    Raises `Unauthenticated` and `Forbidden`, whatever the id.
    """
    require_management(actor, "read deliveries")
    webhook = None if webhook_id is None else parse_id(webhook_id)
    return select_visible_delivery(actor, pk=parse_id(delivery_id), webhook=webhook)


def select_delivery_node(actor: Actor, delivery_id: str) -> Rows[Delivery]:
    """Return the delivery with this id, or none. `node` gets the ids of all types, so no permission is required."""
    return select_visible_delivery(actor, pk=parse_id(delivery_id), webhook=None)


@parametrised(Delivery)
def select_visible_delivery(actor: Actor, *, pk: int, webhook: int | None) -> QuerySet[Delivery]:
    if not policy.may_manage_webhooks(actor):  # the statement of a node then looks for no delivery
        return Delivery.objects.none()
    deliveries = Delivery.objects.filter(policy.visible_webhooks(actor), pk=pk, webhook__in=Webhook.objects.all())
    return deliveries if webhook is None else deliveries.filter(webhook=webhook)


def list_deliveries_of_subject(actor: Actor, subject_id: int, *, positions: Collection[int]) -> list[Delivery]:
    """Return the deliveries of some events of an object, by position. It is empty if the actor may see none."""
    if not policy.may_manage_webhooks(actor):
        return []
    ids = list(Webhook.objects.values_list("pk", flat=True))
    deliveries = Delivery.objects.filter(webhook__in=ids, subject_id=subject_id, position__in=positions)
    return list(deliveries.select_related("webhook").order_by("position", "pk"))
