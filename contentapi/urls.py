from django.contrib import admin
from django.urls import include, path

from contentapi.auth.jwks import jwks
from contentapi.graphql.endpoint import graphql
from contentapi.graphql.sdl import serve_sdl
from contentapi.http.api_version import PREFIX
from contentapi.rest.openapi import docs, openapi

resources = [include(f"{app}.urls") for app in ("blog", "orders", "users")]

urlpatterns = [
    path("graphql", graphql),
    path("schema.graphql", serve_sdl, name="sdl"),
    path("openapi.json", openapi),
    path("docs", docs),
    path(".well-known/jwks.json", jwks),
    path("admin/", admin.site.urls),
    path("", include("users.oauth.urls")),
    *(path(prefix, app) for prefix in ("", f"{PREFIX[1:]}/") for app in resources),
]

handler400 = "contentapi.http.error_response.bad_request"
handler403 = "contentapi.http.error_response.forbidden"
handler404 = "contentapi.http.error_response.not_found"
handler500 = "contentapi.http.error_response.server_error"
