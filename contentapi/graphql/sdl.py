"""Serve the SDL as a text document at /schema.graphql."""

from collections.abc import Callable
from functools import cache

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from graphql import GraphQLSchema, print_schema

from contentapi.conf import conf
from contentapi.core.errors import NotFound
from contentapi.http.documents import build_document_view
from contentapi.http.error_response import django_error_response, get_accept


def build_sdl_view(schema: GraphQLSchema) -> Callable[[HttpRequest], HttpResponse]:
    """Return the view of a schema's SDL. It is 404 unless CONTENTAPI_INTROSPECTION is on."""

    @cache
    def render() -> bytes:
        return print_schema(schema).encode() + b"\n"

    serve = build_document_view("text/plain; charset=utf-8", render)

    @csrf_exempt  # so that POST is 405
    def view(request: HttpRequest) -> HttpResponse:
        if conf.environment.contentapi_introspection != "on":
            return django_error_response(NotFound("There is nothing at this address."), get_accept(request))
        return serve(request)

    return view
