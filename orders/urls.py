from django.urls import path

from orders import views

urlpatterns = [
    path("orders", views.OrderCollection.as_view()),
    path("orders/<str:order_id>", views.OrderResource.as_view()),
    path("orders/<str:order_id>/payment", views.OrderPaymentResource.as_view()),
    path("orders/<str:order_id>/tracking", views.OrderTrackingResource.as_view()),
]
