"""The REST resources of orders: representation, links, and the actions that each status allows."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from pytest_django import DjangoAssertNumQueries

from contentapi.core.identity import Role, Scope
from orders.models import Order, OrderStatus
from tests.conftest import make_api_key
from tests.factories import make_actor, make_order, make_order_in
from tests.resources import send_request

NOW = datetime(2026, 11, 1, tzinfo=UTC)
STATES = list(OrderStatus.values)


@pytest.mark.parametrize("status", STATES)
def test_order_links_to_the_acts_that_its_status_allows(status: str) -> None:
    actor = make_actor(Role.READER)
    order = make_order_in(status, user_id=actor.user_id, total="12.50")
    here = f"/orders/{order.pk}"
    further = {
        "pending": {
            "cancel": {"href": here, "method": "DELETE"},
            "payment": {"href": f"{here}/payment", "method": "POST"},
        },
        "shipped": {"track": {"href": f"{here}/tracking"}},
        "delivered": {"track": {"href": f"{here}/tracking"}},
    }

    response = send_request("GET", here, actor=actor)

    links = {"self": {"href": here}, **further.get(status, {})}
    assert (response.status, response.body) == (200, {"id": order.pk, "status": status, "total": 12.5, "_links": links})
    assert list(response.body) == ["id", "status", "total", "_links"]
    assert b'"total":12.50,' in response.content


def test_caller_with_orders_read_only_gets_the_self_link_only() -> None:
    actor = make_actor(Role.READER, scopes={Scope.ORDERS_READ})
    order = make_order(user_id=actor.user_id)

    assert list(send_request("GET", f"/orders/{order.pk}", actor=actor).body["_links"]) == ["self"]


@pytest.mark.parametrize("status", STATES)
def test_linked_acts_succeed_and_all_others_are_409(status: str) -> None:
    actor = make_actor(Role.READER)
    actions = {"cancel": ("DELETE", ""), "payment": ("POST", "/payment"), "track": ("GET", "/tracking")}

    for name, (method, suffix) in actions.items():
        order = make_order_in(status, user_id=actor.user_id)
        offered = name in send_request("GET", f"/orders/{order.pk}", actor=actor).body["_links"]

        response = send_request(method, f"/orders/{order.pk}{suffix}", actor=actor)

        already = (name, status) == ("cancel", "cancelled")
        assert (response.status < 300) is (offered or already)
        assert response.status in (200, 204, 409)


def test_deleted_order_is_cancelled_and_kept() -> None:
    actor = make_actor(Role.READER)
    path = f"/orders/{make_order(user_id=actor.user_id).pk}"

    responses = [send_request("DELETE", path, actor=actor) for _ in range(2)]

    assert [(response.status, response.content) for response in responses] == [(204, b"")] * 2
    assert send_request("GET", path, actor=actor).body["status"] == "cancelled"


def test_payment_returns_the_paid_order_and_a_second_one_is_409() -> None:
    actor = make_actor(Role.READER)
    path = f"/orders/{make_order(user_id=actor.user_id).pk}"

    paid, again = (
        send_request("POST", f"{path}/payment", actor=actor),
        send_request("POST", f"{path}/payment", {}, actor=actor),
    )

    assert (paid.status, paid.body["status"], list(paid.body["_links"])) == (200, "paid", ["self"])
    assert paid.content == send_request("GET", path, actor=actor).content
    assert again.error == (409, "CONFLICT", "An order that is paid cannot be paid.")


def test_tracking_of_a_shipped_order_is_returned() -> None:
    actor = make_actor(Role.READER)
    order = make_order_in("shipped", user_id=actor.user_id, shipped_at=NOW)

    assert send_request("GET", f"/orders/{order.pk}/tracking", actor=actor).body == {
        "carrier": "Harbour Post", "trackingNumber": "HP-1", "shippedAt": "2026-11-01T00:00:00Z", "deliveredAt": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("total", "written"),
    [(1, b"1.00"), (0.01, b"0.01"), (0.1, b"0.10"), (99999999.99, b"99999999.99"), (12.5, b"12.50")],
)
def test_created_order_belongs_to_the_caller_and_has_the_sent_total(total: float, written: bytes) -> None:
    actor = make_actor(Role.READER)

    response = send_request("POST", "/orders", {"total": total}, actor=actor)

    order = Order.objects.get()
    assert (response.status, response.headers["Location"], order.user_id) == (201, f"/orders/{order.pk}", actor.user_id)
    assert b'"total":%s,' % written in response.content
    assert response.content == send_request("GET", response.headers["Location"], actor=actor).content


@pytest.mark.parametrize("path", ["/orders/0", f"/orders/{'9' * 30}"])
def test_invalid_id_is_404(path: str) -> None:
    actor, missing = make_actor(Role.ADMIN), (404, "NOT_FOUND", "There is no order with this id.")

    assert send_request("GET", path, actor=actor).error == send_request("DELETE", path, actor=actor).error == missing
    assert send_request("POST", f"{path}/payment", actor=actor).error == missing
    assert send_request("GET", f"{path}/tracking", actor=actor).error == missing


@pytest.mark.parametrize("order_id", ["1", "x", "%FF"])
def test_order_needs_a_credential_and_the_scopes_whatever_the_id(order_id: str) -> None:
    admin, actions = make_actor(Role.ADMIN), ("read", "read", "cancel", "pay")
    make_order(pk=1)
    requests = [("GET", ""), ("GET", "/tracking"), ("DELETE", ""), ("POST", "/payment")]

    def send(scopes: set[Scope] | None) -> list[tuple[int, str, str]]:
        actor = replace(admin, scopes=scopes) if scopes else None
        return [send_request(method, f"/orders/{order_id}{below}", actor=actor).error for method, below in requests]

    anonymous, without_read, without_write = send(None), send({Scope.ORDERS_WRITE}), send({Scope.USERS_READ})
    assert anonymous == [(401, "UNAUTHENTICATED", f"A credential is needed to {action} orders.") for action in actions]
    assert without_read == [(403, "FORBIDDEN", "You may not read orders.")] * 4
    assert without_write == [(403, "FORBIDDEN", f"You may not {action} orders.") for action in actions]
    assert Order.objects.get().status == "pending"


def test_orders_are_listed_newest_first_in_one_statement(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    actor = make_actor(Role.READER)
    mine = [make_order(user_id=actor.user_id) for _ in range(3)]
    make_order()
    key = make_api_key(actor)
    send_request("GET", "/orders", X_API_Key=key)  # records the last use of the key

    with django_assert_num_queries(2):  # the key and the orders
        response = send_request("GET", "/orders", X_API_Key=key)

    assert [order["id"] for order in response.body["data"]] == [order.pk for order in reversed(mine)]
