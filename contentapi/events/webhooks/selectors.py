"""Reads of webhooks and their deliveries: for admins all of them."""

from collections.abc import Collection

from django.db.models import QuerySet

from contentapi.core import policy
from contentapi.core.errors import Malformed
from contentapi.core.identity import Actor
from contentapi.core.pagination import Position, parse_id
from contentapi.db.expressions import TextLiteral
from contentapi.events.webhooks.models import Delivery, DeliveryState, Webhook
from contentapi.projection import NEWEST_FIRST, OLDEST_FIRST, Rows, paginate, parametrised

WEBHOOK_SORT_FIELDS = {"createdAt": OLDEST_FIRST}
DELIVERY_SORT_FIELDS = {"createdAt": OLDEST_FIRST}


def require_management(actor: Actor, action: str) -> None:
    """Raise `Unauthenticated` or `Forbidden` unless the actor may manage webhooks. Call this before the look-up."""
    policy.require_permission(actor, policy.may_manage_webhooks(actor), action)


@parametrised(Webhook, pk=parse_id)
def select_visible_webhooks(
    actor: Actor, *, pk: int | None = None, after: str | None = None, after_pk: int | None = None
) -> QuerySet[Webhook]:
    """Return the webhooks, newest first: all of them, the one with an id, or those after a position."""
    if not policy.may_manage_webhooks(actor):  # the statement of a node then looks for no webhook
        return Webhook.objects.none()
    webhooks = Webhook.objects.filter(policy.visible_webhooks(actor)).order_by(*NEWEST_FIRST.terms())
    if after is not None:
        webhooks = webhooks.filter(NEWEST_FIRST.beyond(after, after_pk))
    return webhooks if pk is None else webhooks.filter(pk=pk).order_by()


def select_webhooks(actor: Actor, after: Position | None = None) -> Rows[Webhook]:
    """Return webhooks, newest first, from after a position. Raises `Unauthenticated` and `Forbidden`."""
    require_management(actor, "list webhooks")
    return select_visible_webhooks(actor, after=after)


select_webhooks_page = paginate("webhooks", select_webhooks, NEWEST_FIRST)


def select_webhook_by_id(actor: Actor, webhook_id: str) -> Rows[Webhook]:
    """Return the webhook with this id, or none. Raises `Unauthenticated` and `Forbidden`, whatever the id."""
    require_management(actor, "read webhooks")
    return select_visible_webhooks(actor, webhook_id)


@parametrised(Delivery, pk=parse_id, webhook=parse_id)
def select_visible_deliveries(
    actor: Actor,
    *,
    pk: int | None = None,
    webhook: int | None = None,
    state: DeliveryState | None = None,
    after: str | None = None,
    after_pk: int | None = None,
) -> QuerySet[Delivery]:
    """Return deliveries, newest first: the one with an id, or those of a webhook after a position."""
    if not policy.may_manage_webhooks(actor):  # the statement of a node then looks for no delivery
        return Delivery.objects.none()
    deliveries = filter_deliveries(Delivery.objects.order_by(*NEWEST_FIRST.terms()), actor, state=state)
    if webhook is not None:
        deliveries = deliveries.filter(webhook=webhook)
    if after is not None:
        deliveries = deliveries.filter(NEWEST_FIRST.beyond(after, after_pk))
    if pk is None:
        return deliveries
    return deliveries.filter(pk=pk, webhook__in=Webhook.objects.all()).order_by()


def filter_deliveries(
    deliveries: QuerySet[Delivery], actor: Actor, *, state: DeliveryState | None
) -> QuerySet[Delivery]:
    """Return those that the actor may see, in a state."""
    deliveries = deliveries.filter(policy.visible_webhooks(actor))
    return deliveries if state is None else deliveries.filter(state=TextLiteral(state.value))


def select_deliveries(
    actor: Actor, webhook_id: str, *, state: str | None = None, after: Position | None = None
) -> Rows[Delivery]:
    """Return the deliveries of a webhook, newest first, from after a position.

    Raises `Unauthenticated`, `Forbidden`, and `Malformed` for an unknown state.
    """
    require_management(actor, "read deliveries")
    if state is not None and state not in DeliveryState.values:
        raise Malformed(f"state must be one of {', '.join(DeliveryState.values)}.")
    known = None if state is None else DeliveryState(state)
    return select_visible_deliveries(actor, webhook=webhook_id, state=known, after=after)


def select_delivery_by_id(actor: Actor, delivery_id: str, *, webhook_id: str | None = None) -> Rows[Delivery]:
    """Return the delivery with this id, of this webhook if one is given, or none.

    Raises `Unauthenticated` and `Forbidden`, whatever the id.
    """
    require_management(actor, "read deliveries")
    return select_visible_deliveries(actor, delivery_id, webhook=webhook_id)


def list_deliveries_of_subject(actor: Actor, subject_id: int, *, positions: Collection[int]) -> list[Delivery]:
    """Return the deliveries of some events of an object, by position. It is empty if the actor may see none."""
    if not policy.may_manage_webhooks(actor):
        return []
    ids = list(Webhook.objects.values_list("pk", flat=True))
    deliveries = Delivery.objects.filter(webhook__in=ids, subject_id=subject_id, position__in=positions)
    return list(deliveries.select_related("webhook").order_by("position", "pk"))
