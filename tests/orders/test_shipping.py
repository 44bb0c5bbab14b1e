"""Shipment and delivery of orders, which the operator records."""

from collections.abc import Callable

import pytest
from django.utils import timezone

from contentapi.core.errors import Conflict, Forbidden, Invalid, NotFound, Unauthenticated
from contentapi.core.identity import ANONYMOUS, OPERATOR, Role
from orders.models import Order, OrderStatus
from orders.services import deliver_order, ship_order
from tests.blog.racing import race
from tests.factories import make_actor, make_order, make_order_in, make_user

TRACKING = {"carrier": "Coastal Post", "tracking_number": "CP 17"}


def ship(order: Order) -> Order:
    return ship_order(actor=OPERATOR, order_id=str(order.pk), carrier="Coastal Post", tracking_number="CP 17")


def deliver(order: Order) -> Order:
    return deliver_order(actor=OPERATOR, order_id=str(order.pk))


def test_paid_order_is_shipped_and_then_delivered() -> None:
    order, before = make_order_in("paid"), timezone.now()

    ship(order)
    shipped = Order.objects.get()
    deliver(order)
    delivered = Order.objects.get()

    assert (shipped.status, shipped.carrier, shipped.tracking_number) == ("shipped", "Coastal Post", "CP 17")
    assert shipped.shipped_at
    assert shipped.delivered_at is None
    assert delivered.delivered_at
    assert before <= shipped.shipped_at <= delivered.delivered_at
    assert (delivered.status, delivered.shipped_at) == ("delivered", shipped.shipped_at)


@pytest.mark.parametrize(
    ("action", "status", "message"),
    [
        *((ship, s, f"An order that is {s} cannot be shipped.") for s in OrderStatus.values if s != "paid"),
        *((deliver, s, f"An order that is {s} cannot be delivered.") for s in OrderStatus.values if s != "shipped"),
    ],
)
def test_order_with_another_status_raises_conflict_and_is_unchanged(
    action: Callable[[Order], Order], status: str, message: str
) -> None:
    order = make_order_in(status)
    before = Order.objects.values().get()

    with pytest.raises(Conflict) as refusal:
        action(order)

    assert refusal.value.message == message
    assert Order.objects.values().get() == before


@pytest.mark.parametrize("text", ["", " \t", "x" * 101])
@pytest.mark.parametrize("field", TRACKING)
def test_tracking_values_have_from_1_to_100_characters(field: str, text: str) -> None:
    order = make_order_in("paid")

    with pytest.raises(Invalid) as refusal:
        ship_order(actor=OPERATOR, order_id=str(order.pk), **{**TRACKING, field: text})

    assert refusal.value.fields == {field: [f"From 1 to 100 characters are allowed (got {len(text.strip())})."]}
    assert Order.objects.get().status == "paid"


def test_customer_cannot_ship_or_deliver_an_order() -> None:
    customer = make_actor(Role.EDITOR)
    own, others = make_order(user_id=customer.user_id, status="paid"), make_order(status="paid", user=make_user())

    for actor, order, refusal in [
        (customer, own, Forbidden),
        (customer, others, NotFound),
        (ANONYMOUS, own, Unauthenticated),
    ]:
        with pytest.raises(refusal):
            ship_order(actor=actor, order_id=str(order.pk), **TRACKING)
        with pytest.raises(refusal):
            deliver_order(actor=actor, order_id=str(order.pk))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("action", "status"), [(ship, "paid"), (deliver, "shipped")])
def test_one_of_two_concurrent_acts_succeeds(action: Callable[[Order], Order], status: str) -> None:
    order = make_order_in(status)

    def attempt() -> str:
        try:
            return action(order).status
        except Conflict:
            return "conflict"

    outcomes = race(lambda: Order.objects.select_for_update().get(pk=order.pk), attempt, attempt)

    assert sorted(outcomes) == sorted(["conflict", Order.objects.get().status])
