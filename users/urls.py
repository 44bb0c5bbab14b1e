from django.urls import path

from users import views

urlpatterns = [
    path("users", views.UserCollection.as_view()),
    path("users/<str:user_id>", views.UserResource.as_view()),
]
