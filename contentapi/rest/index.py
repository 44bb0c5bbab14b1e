"""Serve /: what this server is, and links to what it offers. HTML for browsers, JSON for all others."""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import NamedTuple

import msgspec
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from contentapi.conf import conf
from contentapi.http.api_version import VERSION
from contentapi.http.body import JSON
from contentapi.http.documents import HTML, build_page_headers, for_readers, respond_with_etag
from contentapi.http.error_response import get_accept
from contentapi.http.hosts import get_request_origin
from contentapi.http.negotiation import select_media_type

NAME = "Content API"
DESCRIPTION = "Posts, their authors and comments, orders and users, by GraphQL and REST."


class Link(NamedTuple):
    """A link by its relation. The page shows those with a title, in two groups."""

    relation: str
    href: str
    title: str = ""
    description: str = ""
    is_for_programs: bool = False


def iterate_links(collections: Iterable[str]) -> Iterator[Link]:
    """Yield the links to what this server offers with its present settings."""
    yield Link("graphql", "/graphql", "Explorer", "Write GraphQL operations, with examples and completion.")
    yield Link("documentation", "/docs", "Reference", "Every REST operation, with samples in many languages.")
    yield Link("admin", "/admin/", "Admin", "Write and publish posts, moderate comments, create API keys.")
    yield Link("health", "/readyz", "Health", "Whether the server and its database are ready.")
    yield Link("openapi", "/openapi.json", "OpenAPI", "The REST resources.", is_for_programs=True)
    if conf.environment.contentapi_introspection == "on":
        yield Link("schema", "/schema.graphql", "GraphQL SDL", "The types of the graph.", is_for_programs=True)
    metadata = "/.well-known/oauth-authorization-server"
    yield Link("oauth", metadata, "OAuth 2.0", "The metadata of the authorization server.", is_for_programs=True)
    metadata, description = "/.well-known/oauth-protected-resource", "The metadata of this API as a protected resource."
    yield Link("protectedResource", metadata, "OAuth 2.0 resource", description, is_for_programs=True)
    for name in collections:
        yield Link(name, f"/{name}")


def render_index(collections: Collection[str], request: HttpRequest) -> HttpResponse:
    """Return the page if Accept prefers HTML, otherwise the links as JSON."""
    if select_media_type(get_accept(request), [JSON, HTML]) == HTML:
        context = {
            "name": NAME,
            "description": DESCRIPTION,
            "links": [link for link in iterate_links(collections) if link.title],
            "origin": get_request_origin(request.META),
        }
        response = HttpResponse(render_to_string("contentapi/index.html", context), headers=build_page_headers())
    else:
        links = {"self": {"href": "/"}} | {link.relation: {"href": link.href} for link in iterate_links(collections)}
        content = {"name": NAME, "description": DESCRIPTION, "version": VERSION, "_links": links}
        response = HttpResponse(msgspec.json.encode(content), content_type=JSON)
    response["Cache-Control"], response["Vary"] = "no-cache", "Accept"
    return respond_with_etag(request, response)


def build_index(collections: Collection[str]) -> Callable[..., HttpResponse]:
    """Return the view, with links to these collections."""
    return for_readers(partial(render_index, collections))
