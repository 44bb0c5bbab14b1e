"""The commands create_order, ship_order and deliver_order. test_services.py and test_shipping.py test the rules."""

import pytest
from django.core.management import CommandError

from orders.models import Order
from tests.factories import make_order, make_user
from tests.users.command_runs import run_command


def test_commands_create_ship_and_deliver_an_order() -> None:
    user = make_user(email="ines@example.invalid")

    out, err = run_command("create_order", "Ines@example.invalid", "--total", "18.50")
    order = Order.objects.get()
    assert (out, err) == (f"{order.pk}\n", "")
    assert (order.user, str(order.total), order.status) == (user, "18.50", "pending")

    Order.objects.update(status="paid")
    shipped = run_command("ship_order", str(order.pk), "--carrier", "Coastal Post", "--tracking-number", "CP 17")
    delivered = run_command("deliver_order", str(order.pk))

    assert (shipped, delivered) == (
        ("", f"Order {order.pk} is shipped.\n"),
        ("", f"Order {order.pk} is delivered.\n"),
    )
    order.refresh_from_db()
    assert (order.status, order.carrier, order.tracking_number) == ("delivered", "Coastal Post", "CP 17")


@pytest.mark.parametrize(
    "total", ["much", "", "1,50", "NaN", "sNaN", "Infinity", "0", "-1", "1e9", "0.001", "1e999999"]
)
def test_invalid_total_is_rejected_with_a_message(total: str) -> None:
    make_user(email="ines@example.invalid")

    with pytest.raises(CommandError, match=r"^(--total must be a number such as 18\.50|total: From 0\.01 to )"):
        run_command("create_order", "ines@example.invalid", "--total", total)

    assert not Order.objects.exists()


def test_error_of_a_service_is_a_command_error_with_its_message() -> None:
    order = make_order()

    for arguments, message in [
        (("create_order", "no@example.invalid", "--total", "1"), "There is no user with the email no@example.invalid."),
        (("deliver_order", str(order.pk)), "An order that is pending cannot be delivered."),
        (("deliver_order", "x"), "There is no order with this id."),
        (("ship_order", "0", "--carrier", "C", "--tracking-number", "T"), "There is no order with this id."),
    ]:
        with pytest.raises(CommandError) as refusal:
            run_command(*arguments)
        assert str(refusal.value) == message
