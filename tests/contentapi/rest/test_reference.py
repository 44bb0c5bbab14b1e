"""The page /docs, with and without the built API reference. tests/e2e/test_docs.py tests it in a browser."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client, RequestFactory

from contentapi.rest.openapi import render_reference
from tests.openapi import OPERATIONS

BUILT = "frontend/0123456789ab/"
SPECIAL = re.compile(r"""\s(style|on\w+)=|<style|<script(?![^>]* src=)""")


def render(folder: str, **environ: Any) -> tuple[str, Any]:
    response = render_reference(RequestFactory().get("/docs", **environ), folder)
    return response.content.decode(), response.headers


def test_page_names_the_built_files_and_the_nonce_of_its_policy() -> None:
    first, headers = render(BUILT)
    _, other_headers = render(BUILT)

    assert 'type="module" src="/static/frontend/0123456789ab/reference.js"' in first
    assert 'href="/static/frontend/0123456789ab/reference.css"' in first
    nonce = re.search(r'<meta property="csp-nonce" content="([\w-]{22,})">', first)
    assert nonce
    assert f"style-src 'self' 'nonce-{nonce[1]}'" in headers["Content-Security-Policy"]
    assert nonce[1] not in other_headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("folder", [BUILT, ""])
def test_page_loads_only_from_this_server_and_has_no_inline_script(folder: str) -> None:
    page, headers = render(folder, HTTP_HOST="localhost:8123")

    loaded = re.findall(r'<(?:script|link|img)\b[^>]*?(?:src|href)="([^"]+)"', page)
    assert loaded
    assert [address for address in loaded if not re.match(r"/(?!/)", address)] == []
    assert SPECIAL.findall(page) == []
    assert "unsafe-eval" not in headers["Content-Security-Policy"]
    assert "script-src 'self';" in headers["Content-Security-Policy"]


def test_page_without_a_build_has_each_operation() -> None:
    page, _ = render("", HTTP_HOST="localhost:8123")

    assert "make pages" in page
    for operation in OPERATIONS.values():
        assert f"<code>{operation.method} {operation.path}</code>" in page
        assert operation.parameters <= set(re.findall(r"<code>([\w-]+)</code> \(", page))
    assert "This server is <code>http://localhost:8123</code>" in page
    assert "localhost:8000" not in page
    assert "<script" not in page


def test_pages_for_developers_have_an_icon() -> None:
    for path in ("/", "/docs", "/graphql"):
        page = Client().get(path, headers={"Accept": "text/html"}).content.decode()

        assert '<link rel="icon" href="/static/contentapi/icon.svg" type="image/svg+xml">' in page, path
    assert (Path(__file__).parents[3] / "contentapi/static/contentapi/icon.svg").exists()
