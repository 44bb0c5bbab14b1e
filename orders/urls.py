from orders import views

RESOURCES = {
    "orders": views.OrderCollection,
    "orders/<str:order_id>": views.OrderResource,
    "orders/<str:order_id>/payment": views.OrderPaymentResource,
    "orders/<str:order_id>/tracking": views.OrderTrackingResource,
}
