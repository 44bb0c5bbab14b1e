"""Orders in the graph. tests/contract has permissions and errors, tests/contentapi/projection all selections."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from contentapi.core.identity import Role, Scope
from contentapi.graphql.scalars import serialize_date_time
from orders.models import Order
from tests.conftest import GraphQL
from tests.factories import get_user, make_actor, make_order
from tests.resources import send_request
from users.models import User

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
FIELDS = "id status total createdAt version allowedActions tracking { carrier trackingNumber shippedAt deliveredAt }"
ORDER = f"query ($id: ID!) {{ order(id: $id) {{ {FIELDS} }} }}"
ORDERS = """
query ($first: Int, $after: String, $field: OrderSortField!, $direction: SortDirection!) {
  orders(first: $first, after: $after, orderBy: {field: $field, direction: $direction}) {
    totalCount pageInfo { hasNextPage endCursor } edges { node { id } }
  }
}
"""
CREATE = f"mutation ($input: CreateOrderInput!) {{ createOrder(input: $input) {{ order {{ {FIELDS} }} }} }}"
PAY = "mutation ($input: PayOrderInput!) { payOrder(input: $input) { order { id status version } } }"
CANCEL = "mutation ($input: CancelOrderInput!) { cancelOrder(input: $input) { order { status } } }"


def test_order_has_the_same_values_as_in_rest(gql: GraphQL) -> None:
    actor = make_actor(Role.READER)
    user = User.objects.get()
    times = {"shipped_at": BEGAN, "delivered_at": BEGAN + timedelta(days=1)}
    order = make_order(
        user=user, status="delivered", total="99999999.99", carrier="Post", tracking_number="RR 1", **times
    )

    in_graph = gql(ORDER, actor=actor, id=str(order.pk)).data["order"]
    by_rest = send_request("GET", f"/orders/{order.pk}", actor=actor)
    tracking = send_request("GET", f"/orders/{order.pk}/tracking", actor=actor)

    assert in_graph == {
        "id": str(by_rest.body["id"]),
        "status": by_rest.body["status"],
        "total": by_rest.body["total"],
        "createdAt": serialize_date_time(order.created_at),
        "version": str(order.version),
        "allowedActions": ["track"],
        "tracking": {
            "carrier": tracking.body["carrier"],
            "trackingNumber": tracking.body["trackingNumber"],
            "shippedAt": times["shipped_at"].isoformat(),
            "deliveredAt": times["delivered_at"].isoformat(),
        },
    }


def test_orders_are_paged_in_both_directions_of_their_order(gql: GraphQL) -> None:
    actor = make_actor(Role.READER)
    own = [make_order(user=get_user(actor), created_at=BEGAN + timedelta(days=n)) for n in (2, 0, 1)]
    make_order()
    oldest_first = [str(own[place].pk) for place in (1, 2, 0)]

    for direction, wanted in (("asc", oldest_first), ("desc", oldest_first[::-1])):
        seen: list[str] = []
        page = {"pageInfo": {"hasNextPage": True, "endCursor": None}}
        while page["pageInfo"]["hasNextPage"]:
            after = page["pageInfo"]["endCursor"]
            sort = {"field": "createdAt", "direction": direction}
            page = gql(ORDERS, actor=actor, first=2, after=after, **sort).data["orders"]
            assert page["totalCount"] == 3
            seen += [edge["node"]["id"] for edge in page["edges"]]
        assert seen == wanted


@pytest.mark.parametrize("field", ['order(id: "x")', "user(id: 999999999999)"])
def test_order_and_user_report_the_same_errors_as_their_lists_whatever_the_id(gql: GraphQL, field: str) -> None:
    admin = make_actor(Role.ADMIN)
    noun = field.partition("(")[0]
    document = f"{{ {noun}s {{ totalCount }} {field} {{ id }} }}"

    responses = [gql(document), gql(document, actor=make_actor(Role.ADMIN, scopes={Scope.POSTS_READ}))]
    allowed = gql(document, actor=admin)

    assert [(response.status, response.codes) for response in responses] == [
        (401, ["UNAUTHENTICATED"] * 2),
        (403, ["FORBIDDEN"] * 2),
    ]
    assert responses[0].body["errors"][1]["message"] == f"A credential is needed to read {noun}s."
    assert responses[1].body["errors"][1]["message"] == f"You may not read {noun}s."
    assert (allowed.status, allowed.body["data"][noun]) == (200, None)


def test_viewer_has_only_own_orders_even_as_an_admin(gql: GraphQL) -> None:
    actor = make_actor(Role.ADMIN)
    own = make_order(user=get_user(actor))
    make_order()
    make_order(user=None)

    response = gql("{ viewer { orders { totalCount edges { node { id } } } } orders { totalCount } }", actor=actor)

    assert response.data == {
        "viewer": {"orders": {"totalCount": 1, "edges": [{"node": {"id": str(own.pk)}}]}},
        "orders": {"totalCount": 3},
    }


def test_orders_of_the_viewer_need_their_scope(gql: GraphQL) -> None:
    actor = make_actor(Role.READER, scopes={Scope.USERS_READ})

    response = gql("{ viewer { role orders { totalCount } } }", actor=actor)

    assert (response.status, response.codes) == (403, ["FORBIDDEN"])
    assert response.body["errors"][0]["path"] == ["viewer", "orders"]
    assert gql("{ viewer { role } }", actor=actor).data == {"viewer": {"role": "reader"}}
    assert gql("{ viewer { orders { totalCount } } }").data == {"viewer": None}


def test_order_is_created_paid_and_cancelled(gql: GraphQL) -> None:
    actor = make_actor(Role.READER)

    created = gql(CREATE, actor=actor, input={"total": 12.5}).data["createOrder"]["order"]
    row = Order.objects.get()
    paid = gql(PAY, actor=actor, input={"id": created["id"], "expectedVersion": created["version"]})
    outdated = gql(PAY, actor=actor, input={"id": created["id"], "expectedVersion": created["version"]})
    other = str(make_order(user=row.user).pk)
    cancelled = [gql(CANCEL, actor=actor, input={"id": other}).data for _ in range(2)]

    assert (row.user_id, row.total) == (actor.user_id, Decimal("12.50"))
    assert created["status"] == "pending"
    assert created["total"] == 12.5
    assert created["allowedActions"] == ["cancel", "pay"]
    assert paid.data["payOrder"]["order"] == {"id": created["id"], "status": "paid", "version": "2"}
    assert (outdated.status, outdated.codes, outdated.body["data"]) == (409, ["CONFLICT"], {"payOrder": None})
    assert cancelled == [{"cancelOrder": {"order": {"status": "cancelled"}}}] * 2
