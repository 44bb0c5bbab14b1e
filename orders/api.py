"""What orders add to the API."""

from contentapi.events.declarations import App, Entry, EventSource, Group, Type
from orders import policy, projections, resolvers, selectors, views
from orders.models import OrderStatus

ACTIONS = ("created", *(status.value for status in OrderStatus if status != OrderStatus.PENDING))
EVENTS = EventSource(ACTIONS, policy.ORDER_EVENTS, views.ORDER)

API = App(
    types=[Type(projections.ORDER, selectors.select_order_node, EVENTS)],
    projections=projections.PROJECTIONS,
    representations=views.REPRESENTATIONS,
    bindables=resolvers.BINDABLES,
    resources={
        "orders": views.OrderCollection,
        "orders/<str:order_id>": views.OrderResource,
        "orders/<str:order_id>/payment": views.OrderPaymentResource,
        "orders/<str:order_id>/tracking": views.OrderTrackingResource,
    },
    sidebar=[Entry("Orders", "shopping_cart", "orders.Order", Group.ADMINISTRATION)],
    links=["orders"],
)
