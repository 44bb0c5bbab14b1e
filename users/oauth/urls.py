"""Where the authorization server answers; django-oauth-toolkit looks its own addresses up by these names."""

from django.urls import path

from users import login
from users.oauth import views

app_name = "oauth2_provider"
urlpatterns = [
    path("oauth/authorize", views.Authorize.as_view(), name="authorize"),
    path("oauth/token", views.token, name="token"),
    path("oauth/revoke", views.revoke, name="revoke-token"),
    path("oauth/introspect", views.introspect_view, name="introspect"),
    path("oauth/login", login.login, name="login"),
    path("oauth/logout", login.logout, name="logout"),
    path(".well-known/oauth-authorization-server", views.metadata, name="oauth-server-metadata"),
]
