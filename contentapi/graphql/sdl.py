"""The SDL as one text, for tools: what introspection tells, in the language that it was written in."""

import hashlib
from functools import cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import etag
from graphql import print_schema

from contentapi.errors import MethodNotAllowed, NotFound
from contentapi.graphql.schema import SCHEMA
from contentapi.rest import accept_of, error_response

METHODS = ("GET", "HEAD", "OPTIONS")


@csrf_exempt  # so that a POST is told what is allowed
def sdl(request: HttpRequest) -> HttpResponse:
    """Answer with the SDL; as with introspection, only where that is on."""
    if settings.ENVIRONMENT.contentapi_introspection != "on":
        return error_response(NotFound("There is nothing at this address."), accept_of(request))
    if request.method not in METHODS:
        return error_response(MethodNotAllowed(str(request.method), METHODS), accept_of(request))
    if request.method == "OPTIONS":
        return HttpResponse(status=204, headers={"Allow": ", ".join(METHODS)})
    return document(request)


@cache
def text() -> bytes:
    return print_schema(SCHEMA).encode() + b"\n"


@etag(lambda _: f'"{hashlib.sha256(text()).hexdigest()[:32]}"')
def document(_: HttpRequest) -> HttpResponse:
    return HttpResponse(text(), content_type="text/plain; charset=utf-8", headers={"Cache-Control": "no-cache"})
