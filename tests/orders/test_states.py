"""The history of an order: each status with who gave it, when, and with which credential."""

from datetime import timedelta

import pytest
from django.utils import timezone

from contentapi.core.errors import Conflict, NotFound
from contentapi.core.identity import OPERATOR, Role
from contentapi.db.statements import execute
from orders import selectors, services
from orders.models import Order, OrderState
from tests.factories import make_actor, make_order, make_user
from users.models import User


def list_states(order: Order) -> list[tuple[str, str, str]]:
    return [
        (change.status, change.person, change.origin)
        for change in selectors.list_state_changes(OPERATOR, str(order.pk))
    ]


def test_history_names_who_moved_the_order_and_with_what() -> None:
    customer = make_actor(Role.READER).through("REST")
    admin = make_actor(Role.ADMIN).through("admin")
    names = {user.pk: user.name for user in User.objects.all()}
    order = services.create_order(actor=customer, total=Order._meta.get_field("total").to_python("18.50"))
    order_id = str(order.pk)

    services.pay_order(actor=customer, order_id=order_id)
    services.ship_order(actor=admin, order_id=order_id, carrier="Post", tracking_number="1")
    services.deliver_order(actor=OPERATOR, order_id=order_id)

    assert list_states(order) == [
        ("pending", names[customer.user_id or 0], customer.origin),
        ("paid", names[customer.user_id or 0], customer.origin),
        ("shipped", names[admin.user_id or 0], admin.origin),
        ("delivered", "", "command line"),
    ]


def test_refused_and_repeated_acts_are_not_in_the_history() -> None:
    order = make_order()
    services.cancel_order(actor=OPERATOR, order_id=str(order.pk))
    services.cancel_order(actor=OPERATOR, order_id=str(order.pk))
    with pytest.raises(Conflict):
        services.pay_order(actor=OPERATOR, order_id=str(order.pk))

    assert [status for status, _, _ in list_states(order)] == ["pending", "cancelled"]


def test_change_in_sql_is_in_the_history_without_a_person() -> None:
    order = make_order()

    execute("UPDATE orders_order SET status = 'paid' WHERE id = %s", [order.pk])
    execute("UPDATE orders_order SET total = 2 WHERE id = %s", [order.pk])

    assert list_states(order) == [("pending", "", "database"), ("paid", "", "database")]


def test_time_of_a_status_decides_its_place_and_not_the_id() -> None:
    order = make_order()
    services.pay_order(actor=OPERATOR, order_id=str(order.pk))
    OrderState.objects.filter(status="pending").update(pgh_created_at=timezone.now() + timedelta(hours=1))

    assert [status for status, _, _ in list_states(order)] == ["paid", "pending"]


def test_deleted_user_stays_in_the_history_by_id() -> None:
    actor = make_actor(Role.ADMIN)
    order = make_order()
    services.pay_order(actor=actor, order_id=str(order.pk))
    User.objects.filter(pk=actor.user_id or 0).delete()

    assert list_states(order)[1][1] == f"deleted user {actor.user_id}"


def test_history_of_another_users_order_is_not_found() -> None:
    order = make_order(user=make_user())

    with pytest.raises(NotFound):
        selectors.list_state_changes(make_actor(Role.EDITOR), str(order.pk))
