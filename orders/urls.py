from django.urls import path

from orders import views

urlpatterns = [
    path("orders", views.OrderCollection.as_view()),
    path("orders/<str:order_id>", views.OrderResource.as_view()),
    path("orders/<str:order_id>/payment", views.Payment.as_view()),
    path("orders/<str:order_id>/tracking", views.OrderTracking.as_view()),
]
