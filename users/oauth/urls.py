"""URLs of the authorization server."""

from django.urls import path

from users import login
from users.oauth import views

app_name = "oauth2_provider"
urlpatterns = [
    path("oauth/authorize", views.AuthorizeView.as_view(), name="authorize"),
    path("oauth/token", views.token_view, name="token"),
    path("oauth/revoke", views.revoke_view, name="revoke-token"),
    path("oauth/introspect", views.introspect_view, name="introspect"),
    path("oauth/login", login.login, name="login"),
    path("oauth/logout", login.logout, name="logout"),
    path(".well-known/oauth-authorization-server", views.metadata_view, name="oauth-server-metadata"),
    path(".well-known/oauth-protected-resource", views.resource_metadata_view, name="oauth-resource-metadata"),
]
