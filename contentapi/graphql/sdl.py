"""Serve the SDL as a text document at /schema.graphql, with its directives: `print_schema` leaves them out."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from graphql import (
    DefinitionNode,
    DirectiveDefinitionNode,
    DocumentNode,
    ObjectTypeDefinitionNode,
    ObjectTypeExtensionNode,
    parse,
    print_ast,
)

from contentapi.conf import conf
from contentapi.core.errors import NotFound
from contentapi.http.documents import build_document_view
from contentapi.http.error_response import django_error_response

ROOT_TYPES = ("Query", "Mutation")


def build_sdl_view(sdl: str) -> Callable[[HttpRequest], HttpResponse]:
    """Return the view of the SDL of some files. It is 404 unless CONTENTAPI_INTROSPECTION is on."""

    @cache
    def render() -> bytes:
        return print_ast(merge_extensions(parse(sdl))).encode() + b"\n"

    serve = build_document_view("text/plain; charset=utf-8", render)

    @csrf_exempt  # so that POST is 405
    def view(request: HttpRequest) -> HttpResponse:
        if conf.environment.contentapi_introspection != "on":
            return django_error_response(NotFound("There is nothing at this address."), request)
        return serve(request)

    return view


def merge_extensions(document: DocumentNode) -> DocumentNode:
    """Return a document in which `extend type` has become part of the type. Directives and root types come first."""
    extensions = [node for node in document.definitions if isinstance(node, ObjectTypeExtensionNode)]
    merged: list[DefinitionNode] = []
    for node in document.definitions:
        if isinstance(node, ObjectTypeDefinitionNode):
            more = [field for each in extensions if each.name.value == node.name.value for field in each.fields or ()]
            merged.append(replace(node, fields=(*(node.fields or ()), *more)))
        elif not isinstance(node, ObjectTypeExtensionNode):
            merged.append(node)
    merged.sort(key=get_rank)
    return DocumentNode(definitions=tuple(merged))


def get_rank(node: DefinitionNode) -> int:
    if isinstance(node, DirectiveDefinitionNode):
        return 0
    return 1 if isinstance(node, ObjectTypeDefinitionNode) and node.name.value in ROOT_TYPES else 2
