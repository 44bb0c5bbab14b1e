from django.urls import path

from users import password_pages as pages
from users import views

RESOURCES = {
    "users": views.UserCollection,
    "users/<str:user_id>": views.UserResource,
}
urlpatterns = [
    path("admin/password/forgotten", pages.forgotten_password, name="forgotten_password"),
    path("admin/password/sent", pages.show_sent, name="password_link_sent"),
    path("admin/password/link", pages.follow_link, name="password_link"),
    path("admin/password/new", pages.new_password, name="new_password"),
    path("admin/password/chosen", pages.show_chosen, name="password_chosen"),
]
