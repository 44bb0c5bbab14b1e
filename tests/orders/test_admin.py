"""The admin pages of orders: nobody edits an order, and actions move it from status to status."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from contentapi.core.identity import Role
from orders.models import Order
from tests.factories import make_order, make_user
from users.models import User

LIST = reverse("admin:orders_order_changelist")


@pytest.fixture
def admin(client: Client, db: None) -> Client:
    client.force_login(make_user(Role.ADMIN))
    return client


@pytest.mark.parametrize(("parameters", "totals"), [({"status": "paid"}, ["2.00"]), ({"q": "ines@"}, ["1.00"])])
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


def action(admin: Client, order: Order, name: str, **values: str) -> Any:
    return admin.post(reverse("admin:orders_order_action", args=[order.pk, name]), values, follow=True)


def list_actions(admin: Client, order: Order) -> list[str]:
    response = admin.get(reverse("admin:orders_order_change", args=[order.pk]))
    return [action.name for action in response.context["desk_actions"]]


def test_buttons_move_an_order_and_the_page_shows_its_history(admin: Client) -> None:
    order = make_order()

    offered = [list_actions(admin, order)]
    pages = [action(admin, order, "pay"), action(admin, order, "ship", carrier="Post", tracking_number="RR 1")]
    pages.append(action(admin, order, "deliver"))
    offered += [[each.name for each in page.context["desk_actions"]] for page in pages]

    assert offered == [["pay", "cancel"], ["ship"], ["deliver"], []]
    assert re.search(rf"“{order.pk}: 1.00 \(.*\)” was paid\.", pages[0].text)
    order.refresh_from_db()
    assert (order.status, order.carrier, order.tracking_number) == ("delivered", "Post", "RR 1")
    states = pages[-1].context["states"]
    person = User.objects.get(pk=admin.session["_auth_user_id"]).name
    assert [state.status for state, _ in states] == ["pending", "paid", "shipped", "delivered"]
    assert {origin for _, origin in states[1:]} == {f"{person}, in the admin"}
    assert f"{person}, in the admin, " in pages[-1].text


def test_page_asks_for_the_tracking_and_keeps_what_was_typed(admin: Client) -> None:
    order = make_order(status="paid")
    page = reverse("admin:orders_order_action", args=[order.pk, "ship"])

    shown, refused = admin.get(page), admin.post(page, {"carrier": "Post", "tracking_number": " "})

    assert (shown.status_code, refused.status_code) == (200, 200)
    assert refused.context["form"].errors == {"tracking_number": ["This field is required."]}
    assert 'value="Post"' in refused.text
    order.refresh_from_db()
    assert order.status == "paid"


def test_page_for_the_tracking_is_not_shown_before_the_order_is_paid(admin: Client) -> None:
    order = make_order()

    response = admin.get(reverse("admin:orders_order_action", args=[order.pk, "ship"]), follow=True)

    assert response.redirect_chain == [(reverse("admin:orders_order_change", args=[order.pk]), 302)]
    assert f"“Ship” is not possible for “{order.pk}: 1.00 (pending)” now." in response.text


def test_action_of_the_list_moves_those_that_it_can_and_names_the_others(admin: Client) -> None:
    pending, cancelled = make_order(), make_order(status="cancelled")

    response = admin.post(LIST, {"action": "pay", "_selected_action": [pending.pk, cancelled.pk]}, follow=True)

    assert re.search(rf"“{pending.pk}: 1.00 \(.*\)” was paid\.", response.text)
    refused = f"“{cancelled.pk}: 1.00 (cancelled)” was not paid. An order that is cancelled cannot be paid."
    assert refused in response.text
    assert [order.status for order in Order.objects.order_by("pk")] == ["paid", "cancelled"]
    assert "ship" not in dict(response.context["action_form"].fields["action"].choices)


def test_unknown_order_and_unknown_action_are_not_found(admin: Client) -> None:
    assert admin.get(reverse("admin:orders_order_change", args=["x"])).status_code == 404
    assert action(admin, make_order(), "refund").status_code == 404
