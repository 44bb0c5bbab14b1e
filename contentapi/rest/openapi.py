"""Serve schema/openapi.yaml: as JSON at /openapi.json, and in Swagger UI at /docs."""

import json
from functools import cache
from typing import Any

import yaml
from django.conf import settings
from django.template.loader import render_to_string

from contentapi.http.documents import build_document_view

# Swagger UI loads its files and the document from this host, and its icons from `data:` URLs.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def load_openapi_document() -> dict[str, Any]:
    """Read the document from its file. Raises `yaml.YAMLError`."""
    text = (settings.SCHEMA_DIR / "openapi.yaml").read_text(encoding="utf-8")
    read: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe
    return read


@cache
def render_document() -> bytes:
    return json.dumps(load_openapi_document(), ensure_ascii=False, separators=(",", ":")).encode()


@cache
def render_swagger_ui() -> bytes:
    return render_to_string("contentapi/docs.html").encode()


openapi = build_document_view("application/json", render_document)
docs = build_document_view("text/html; charset=utf-8", render_swagger_ui, {"Content-Security-Policy": POLICY})
