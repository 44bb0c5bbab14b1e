"""The addresses of the API and of the desk, whose pages are registered here: a plain command needs none of them."""

from django.conf import settings
from django.contrib import admin
from django.urls import path

from contentapi.auth.signing_keys import jwks
from contentapi.core.identity import OWN_TYPES
from contentapi.desk.webhooks import admin as webhooks  # noqa: F401 - registers its pages
from contentapi.events.declarations import collect_resources
from contentapi.graphql.endpoint import GraphQLEndpoint
from contentapi.graphql.sdl import build_sdl_view
from contentapi.http.negotiation import VERSION_PREFIX
from contentapi.media.receiving import receive_file
from contentapi.rest.index import build_index
from contentapi.rest.openapi import docs, openapi
from contentapi.schema import APPS, SCHEMA, load_sdl

admin.autodiscover()
if OWN_TYPES:
    from contentapi.types.desk import register_admins

    register_admins()  # it looks at those of the apps

endpoint = GraphQLEndpoint(SCHEMA, settings.SCHEMA_DIR / "documents")
# Of each resource the path, without the leading slash, and the view
RESOURCES = {
    prefix + route: kind.as_view()
    for prefix in ("", f"{VERSION_PREFIX[1:]}/")
    for route, kind in collect_resources().items()
}

urlpatterns = [
    path("", build_index([link for app in APPS for link in app.links])),
    path("graphql", endpoint),
    path("schema.graphql", build_sdl_view(load_sdl()), name="sdl"),
    path("openapi.json", openapi),
    path("docs", docs),
    path(".well-known/jwks.json", jwks),
    path("uploads/<str:upload_id>", receive_file),
    *(page for app in APPS for page in app.pages),
    path("admin/", admin.site.urls),
    *(path(route, view) for route, view in RESOURCES.items()),
]

handler400 = "contentapi.desk.pages.handle_bad_request"
handler403 = handler404 = handler500 = "contentapi.desk.pages.handle_error"
