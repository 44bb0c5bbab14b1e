"""The SDL as one text, for tools: what introspection tells, in the language that it was written in."""

from functools import cache

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from graphql import print_schema

from contentapi.conf import conf
from contentapi.core.errors import NotFound
from contentapi.http.documents import document_view
from contentapi.http.error_response import django_error_response, get_accept
from contentapi.schema import SCHEMA


@csrf_exempt  # so that a POST is told what is allowed
def serve_sdl(request: HttpRequest) -> HttpResponse:
    """Answer with the SDL; as with introspection, only where that is on."""
    if conf.environment.contentapi_introspection != "on":
        return django_error_response(NotFound("There is nothing at this address."), get_accept(request))
    return document(request)


@cache
def text() -> bytes:
    return print_schema(SCHEMA).encode() + b"\n"


document = document_view("text/plain; charset=utf-8", text)
