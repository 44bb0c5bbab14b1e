"""The admin pages of orders, which are read-only."""

import pytest
from django.test import Client
from django.urls import reverse

from contentapi.core.identity import Role
from orders.models import Order
from tests.factories import make_order, make_user

LIST = reverse("admin:orders_order_changelist")


@pytest.fixture
def admin(client: Client, db: None) -> Client:  # noqa: ARG001
    client.force_login(make_user(Role.ADMIN))
    return client


def test_list_and_change_pages_load(admin: Client) -> None:
    order = make_order(user=make_user(email="ines@example.invalid"), total="18.50")
    orphan = make_order(user=None, total="240.00")

    listed = admin.get(LIST)
    shown = [admin.get(reverse("admin:orders_order_change", args=[pk])).status_code for pk in (order.pk, orphan.pk)]

    assert (listed.status_code, shown) == (200, [200, 200])
    assert "ines@example.invalid" in listed.text
    assert "18.50" in listed.text
    assert "240.00" in listed.text


@pytest.mark.parametrize(
    ("parameters", "totals"), [({"status": "paid"}, ["2.00"]), ({"q": "ines@"}, ["1.00"]), ({"q": "nobody"}, [])]
)
def test_list_is_filtered_and_searched(admin: Client, parameters: dict[str, str], totals: list[str]) -> None:
    make_order(user=make_user(email="ines@example.invalid"), total="1.00")
    make_order(status="paid", total="2.00")

    response = admin.get(LIST, parameters)

    assert [str(order.total) for order in response.context["cl"].queryset] == totals


def test_orders_cannot_be_added_changed_or_deleted(admin: Client) -> None:
    order = make_order(total="1.00")
    before = Order.objects.values().get()
    values = {"user": order.user_id, "status": "paid", "total": "2.00"}

    statuses = [
        admin.get(reverse("admin:orders_order_add")).status_code,
        admin.post(reverse("admin:orders_order_add"), values).status_code,
        admin.post(reverse("admin:orders_order_change", args=[order.pk]), values).status_code,
        admin.post(reverse("admin:orders_order_delete", args=[order.pk]), {"post": "yes"}).status_code,
    ]

    assert statuses == [403] * 4
    assert Order.objects.values().get() == before


def test_list_has_no_delete_action(admin: Client) -> None:
    order = make_order()

    admin.post(LIST, {"action": "delete_selected", "_selected_action": [order.pk], "post": "yes"})

    assert "delete_selected" not in admin.get(LIST).text
    assert Order.objects.filter(pk=order.pk).exists()
