"""Payment and cancellation of orders. tests/contract/test_permission_table.py tests the permissions."""

from collections.abc import Callable

import pytest

from contentapi.core.errors import Conflict, NotFound
from contentapi.core.identity import OPERATOR, Role
from orders.models import Order
from orders.services import cancel_order, pay_order
from tests.blog.racing import race
from tests.factories import make_actor, make_order


def test_order_of_a_deleted_user_can_be_paid_by_admins_only() -> None:
    order = make_order(user=None)

    with pytest.raises(NotFound):
        pay_order(actor=make_actor(Role.READER), order_id=str(order.pk))

    assert pay_order(actor=make_actor(Role.ADMIN), order_id=str(order.pk)) == order


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "actions", [(pay_order, pay_order), (pay_order, cancel_order)], ids=["payments", "one of each"]
)
def test_one_of_two_concurrent_acts_succeeds(actions: tuple[Callable[..., Order], ...]) -> None:
    order = make_order()

    def attempt(action: Callable[..., Order]) -> str:
        try:
            return action(actor=OPERATOR, order_id=str(order.pk)).status
        except Conflict:
            return "conflict"

    outcomes = race(
        lambda: Order.objects.select_for_update().get(pk=order.pk),
        lambda: attempt(actions[0]),
        lambda: attempt(actions[1]),
    )

    assert "conflict" in outcomes
    assert set(outcomes) == {"conflict", Order.objects.get().status}
