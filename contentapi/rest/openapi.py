"""Serve schema/openapi.yaml: as JSON at /openapi.json, and for people at /docs.

/docs is Scalar's API reference. If it is not built, the page is plain HTML with the same operations.
"""

import json
import operator
import secrets
from collections.abc import Iterator
from functools import cache, lru_cache, reduce
from typing import Any

import comrak
import yaml
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.module_loading import import_string
from django.utils.safestring import SafeString, mark_safe

from contentapi.core.identity import OWN_TYPES
from contentapi.frontend import find_built_folder
from contentapi.http.documents import build_document_view, build_page_headers, for_readers
from contentapi.http.hosts import get_request_origin

LOCAL = "http://localhost:8000"  # the address in the document
COMPONENTS = "\ncomponents:\n"
DOCUMENTED_METHODS = ("get", "post", "put", "patch", "delete")
ORIGINS = 16  # addresses whose plain pages are kept


def load_openapi_document() -> dict[str, Any]:
    """Return the document of the file, with what own fields and own types add to it. Raises `yaml.YAMLError`."""
    paths = import_string("contentapi.types.openapi.write_paths")() if OWN_TYPES else ""
    document = read_openapi_file(paths)
    import_string("contentapi.types.openapi.describe_own_fields")(document)
    if OWN_TYPES:
        import_string("contentapi.types.openapi.add_own_types")(document)
    return document


def read_openapi_file(more_paths: str = "") -> dict[str, Any]:
    """Return the document of the file, with more paths after its own, which can use its anchors."""
    text = (settings.SCHEMA_DIR / "openapi.yaml").read_text(encoding="utf-8")
    text = text.replace(COMPONENTS, f"\n{more_paths}{COMPONENTS}", 1)
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
        context["reference"] = render_plain_reference(origin)
    body = render_to_string(f"contentapi/{'reference' if folder else 'plain_reference'}.html", context)
    return HttpResponse(body, headers=build_page_headers(nonce))


@lru_cache(ORIGINS)
def render_plain_reference(origin: str) -> SafeString:
    """Return what the plain page shows: the introduction, and the operations by their tags."""
    document = load_openapi_document()
    parts = [document["info"]["description"].replace(LOCAL, origin)]
    for tag in document["tags"]:
        parts += [f"## {tag['name']}", tag["description"], *describe_operations(document, tag["name"])]
    # The document is part of this program. The keyboard reaches what scrolls.
    return mark_safe(comrak.render_markdown("\n\n".join(parts)).replace("<pre>", '<pre tabindex="0">'))  # noqa: S308


def describe_operations(document: dict[str, Any], tag: str) -> Iterator[str]:
    for path, item in document["paths"].items():
        for method in DOCUMENTED_METHODS:
            operation = item.get(method)
            if operation and tag in operation["tags"]:
                yield from (f"### {operation['summary']}", f"`{method.upper()} {path}`")
                yield from describe_operation(document, item, operation)


def describe_operation(document: dict[str, Any], item: dict[str, Any], operation: dict[str, Any]) -> list[str]:
    """Return the description of an operation, and the lists of its parameters and of its responses."""
    stated = [resolve(document, each) for each in (*item.get("parameters", []), *operation.get("parameters", []))]
    responses = [(status, resolve(document, each)) for status, each in sorted(operation["responses"].items())]
    return [
        operation.get("description", ""),
        "\n".join(f"* `{each['name']}` ({each['in']}): {join_lines(each)}" for each in stated),
        "Responses:",
        "\n".join(f"* {status}: {join_lines(each)}" for status, each in responses),
    ]


def resolve(document: dict[str, Any], node: Any) -> Any:
    """Return the node of the document to which a node refers, or the node itself."""
    steps = node["$ref"].split("/")[1:] if "$ref" in node else ()
    return reduce(operator.getitem, steps, document) if steps else node


def join_lines(node: dict[str, Any]) -> str:
    return " ".join(node.get("description", "").split())


openapi = build_document_view("application/json", render_document)
docs = for_readers(render_reference)
