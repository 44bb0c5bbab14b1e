"""Serve schema/openapi.yaml: as JSON at /openapi.json, and for people at /docs.

/docs is Scalar's API reference. If it is not built, the page is plain HTML with the same operations.
"""

import json
import secrets
from functools import cache, lru_cache
from typing import Any

import comrak
import yaml
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from contentapi.frontend import find_built_folder
from contentapi.http.documents import build_document_view, build_page_headers, for_readers
from contentapi.http.hosts import get_request_origin

LOCAL = "http://localhost:8000"  # the address in the document
DOCUMENTED_METHODS = ("get", "post", "put", "patch", "delete")
ORIGINS = 16  # addresses whose plain pages are kept


def load_openapi_document() -> dict[str, Any]:
    """Read the document from its file. Raises `yaml.YAMLError`."""
    text = (settings.SCHEMA_DIR / "openapi.yaml").read_text(encoding="utf-8")
    read: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe
    return read


@cache
def render_document() -> bytes:
    return json.dumps(load_openapi_document(), ensure_ascii=False, separators=(",", ":")).encode()


def render_reference(request: HttpRequest, folder: str | None = None) -> HttpResponse:
    """Return the page, which loads the API reference from this folder of static files, or the plain page.

    Without a folder it looks for the built one: `make run` builds while the server runs.
    """
    folder = find_built_folder() if folder is None else folder
    origin, nonce = get_request_origin(request.META), secrets.token_urlsafe(16)
    context: dict[str, Any] = {"folder": folder, "nonce": nonce, "page": "docs", "origin": origin}
    if not folder:
        context["reference"] = describe_document(origin)
    body = render_to_string(f"contentapi/{'reference' if folder else 'plain_reference'}.html", context)
    return HttpResponse(body, headers=build_page_headers(nonce))


@lru_cache(ORIGINS)
def describe_document(origin: str) -> dict[str, Any]:
    """Return what the plain page shows: the introduction, and the operations by their tags."""
    document = load_openapi_document()
    operations = [
        describe_operation(document, path, method, item)
        for path, item in document["paths"].items()
        for method in DOCUMENTED_METHODS
        if method in item
    ]
    return {
        "title": document["info"]["title"],
        "introduction": render_markdown(document["info"]["description"].replace(LOCAL, origin)),
        "groups": [
            {
                "name": tag["name"],
                "description": render_markdown(tag["description"]),
                "operations": [operation for operation in operations if tag["name"] in operation["tags"]],
            }
            for tag in document["tags"]
        ],
    }


def describe_operation(document: dict[str, Any], path: str, method: str, item: dict[str, Any]) -> dict[str, Any]:
    operation = item[method]
    stated = [*item.get("parameters", []), *operation.get("parameters", [])]
    parameters = [resolve(document, each) for each in stated]
    responses = [(status, resolve(document, each)) for status, each in sorted(operation["responses"].items())]
    return {
        "id": operation["operationId"],
        "tags": operation["tags"],
        "method": method.upper(),
        "path": path,
        "summary": operation["summary"],
        "description": render_markdown(operation.get("description", "")),
        "parameters": [each | {"description": render_markdown(each.get("description", ""))} for each in parameters],
        "responses": [(status, render_markdown(each["description"])) for status, each in responses],
    }


def resolve(document: dict[str, Any], node: Any) -> Any:
    """Follow the `$ref` of a node to its target in the document."""
    while "$ref" in node:
        target: Any = document
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = target
    return node


def render_markdown(text: str) -> SafeString:
    """Render a text of the document, which is part of this program. The keyboard reaches what scrolls."""
    html: SafeString = mark_safe(comrak.render_markdown(text).replace("<pre>", '<pre tabindex="0">'))  # noqa: S308
    return html


openapi = build_document_view("application/json", render_document)
docs = for_readers(render_reference)
