"""The page for browsers at the path of the endpoint. tests/e2e/test_explorer.py tests it in a browser."""

import re
from html.parser import HTMLParser

import msgspec
import pytest
from django.test import Client
from pytest_django import Settings

from contentapi.graphql.explorer.page import render_page
from tests.graphql_requests import GraphQLResponse

CHROMIUM = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
BUILT = "frontend/0123456789ab/"

pytestmark = pytest.mark.django_db


class Loaded(HTMLParser):
    """The URLs that a page loads, and its inline scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.inline: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.inline += [name for name in given if name == "style" or name.startswith("on")]
        is_data = given.get("type") == "application/json"
        if tag == "style" or (tag == "script" and "src" not in given and not is_data):
            self.inline.append(tag)
        self.addresses += [str(given[name]) for name in ("src", "href") if name in given and tag != "a"]


@pytest.mark.parametrize("accept", ["text/html", CHROMIUM, "text/*", "*/*;q=0.1, text/html;q=0.2", "TEXT/HTML"])
def test_browser_gets_a_page(client: Client, accept: str) -> None:
    response = client.get("/graphql", headers={"Accept": accept})

    assert (response.status_code, response.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert response.content.startswith(b"<!doctype html>")
    assert "accept" in response.headers["Vary"].lower()
    assert "RateLimit" in response.headers


@pytest.mark.parametrize(
    "accept", ["", "*/*", "application/json", "application/json, text/html", "text/html;q=0, */*", "image/png"]
)
def test_client_that_prefers_another_type_gets_no_page(client: Client, accept: str) -> None:
    response = GraphQLResponse(client.get("/graphql", headers={"Accept": accept}))

    expected = (406, ["NOT_ACCEPTABLE"]) if accept == "image/png" else (400, ["BAD_REQUEST"])
    assert (response.status, response.codes) == expected


def test_browser_gets_the_page_at_the_address_of_a_query(client: Client) -> None:
    response = client.get("/graphql?query={__typename}", headers={"Accept": CHROMIUM})

    assert response.headers["Content-Type"] == "text/html; charset=utf-8"


def test_post_from_a_browser_gets_json(client: Client) -> None:
    response = client.post(
        "/graphql",
        {"query": "{ __typename }"},
        content_type="application/json",
        headers={"Accept": CHROMIUM, "Origin": "http://testserver"},
    )

    assert (response.status_code, response.json()) == (200, {"data": {"__typename": "Query"}})


def test_invalid_credential_is_rejected_before_the_page(client: Client) -> None:
    response = GraphQLResponse(client.get("/graphql", headers={"Accept": CHROMIUM, "X-API-Key": "capi_of_nobody"}))

    assert (response.status, response.codes) == (401, ["UNAUTHENTICATED"])


def test_policy_of_the_page_allows_only_files_of_this_server(client: Client) -> None:
    first, second = (client.get("/graphql", headers={"Accept": CHROMIUM}) for _ in range(2))

    policies = [response.headers["Content-Security-Policy"] for response in (first, second)]
    nonces = [re.findall(r"'nonce-([\w-]{22,})'", policy) for policy in policies]
    assert dict(directive.split(" ", 1) for directive in policies[0].split("; ")) == {
        "default-src": "'none'",
        "script-src": "'self'",
        "worker-src": "'self'",
        "style-src": f"'self' 'nonce-{nonces[0][0]}'",
        "style-src-attr": "'unsafe-inline'",
        "img-src": "'self' data:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    assert nonces[0] != nonces[1]


@pytest.mark.parametrize("folder", [BUILT, ""])
def test_page_loads_only_from_this_server_and_has_no_inline_script(folder: str) -> None:
    loaded = Loaded(render_page(folder)[1].decode())

    elsewhere = [address for address in loaded.addresses if not re.match(r"/(?!/)|data:,$", address)]
    assert (elsewhere, loaded.inline) == ([], [])
    assert len(loaded.addresses) == (6 if folder else 4)


def test_page_names_the_built_files() -> None:
    headers, page = render_page(BUILT)

    assert b'src="/static/frontend/0123456789ab/explorer.js"' in page
    assert b'href="/static/frontend/0123456789ab/explorer.css"' in page
    nonce = re.search(rb'<meta property="csp-nonce" content="(.+?)">', page)
    assert nonce
    assert f"'nonce-{nonce[1].decode()}'" in headers["Content-Security-Policy"]


def test_page_without_a_build_explains_how_to_build_it() -> None:
    page = render_page("")[1]

    assert b"make pages" in page
    assert b'<a href="/schema.graphql">' in page
    assert b"<script" not in page


def test_page_loads_no_schema_when_introspection_is_off(settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_introspection="off")

    assert b'data-introspection="off"' in render_page(BUILT)[1]
    assert b"schema.graphql" not in render_page("")[1]
