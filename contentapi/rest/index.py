"""Serve /: what this server is, and links to what it offers. HTML for browsers, JSON for all others."""

from collections.abc import Callable, Collection
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from contentapi.conf import conf
from contentapi.http.body import JSON
from contentapi.http.documents import HTML, build_page_headers, for_readers, respond_with_etag
from contentapi.http.hosts import get_request_origin
from contentapi.http.negotiation import VERSION, select_media_type

NAME = "Content API"
DESCRIPTION = "Posts, their authors and comments, orders and users, by GraphQL and REST."
LINKS = {
    "self": "/",
    "graphql": "/graphql",
    "documentation": "/docs",
    "admin": "/admin/",
    "health": "/readyz",
    "openapi": "/openapi.json",
    "schema": "/schema.graphql",
    "oauth": "/.well-known/oauth-authorization-server",
    "protectedResource": "/.well-known/oauth-protected-resource",
}


def build_index(collections: Collection[str]) -> Callable[..., HttpResponse]:
    """Return the view, with links to these collections: a page if Accept prefers HTML, otherwise JSON."""

    @for_readers
    def view(request: HttpRequest) -> HttpResponse:
        links = LINKS | {name: f"/{name}" for name in collections}
        if conf.environment.contentapi_introspection == "off":
            del links["schema"]
        context: dict[str, Any] = {"name": NAME, "description": DESCRIPTION}
        if select_media_type(request.headers.get("Accept", ""), [JSON, HTML]) == HTML:
            context |= {"links": links, "origin": get_request_origin(request.META)}
            response = HttpResponse(render_to_string("contentapi/index.html", context), headers=build_page_headers())
        else:
            context |= {"version": VERSION, "_links": {relation: {"href": href} for relation, href in links.items()}}
            response = HttpResponse(msgspec.json.encode(context), content_type=JSON)
        response["Cache-Control"], response["Vary"] = "no-cache", "Accept"
        return respond_with_etag(request, response)

    return view
