"""GET /: what this server is and where things are, for people and for programs."""

import re

import msgspec
import pytest
from django.test import Client
from pytest_django import Settings

from contentapi.health.probes import PROBES, respond_to_probe
from contentapi.health.readiness import get_readiness
from tests.contract.own_types import OWN_TYPES

CHROMIUM = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"


@pytest.mark.parametrize("accept", ["", "*/*", "application/json", "application/json, text/html", "image/png"])
def test_program_gets_the_links_as_json(accept: str) -> None:
    response = Client().get("/", headers={"Accept": accept})

    assert (response.status_code, response["Content-Type"]) == (200, "application/json")
    assert response.json()["name"] == "Content API"
    assert response.json()["version"] == "1"
    assert {name: link["href"] for name, link in response.json()["_links"].items()} == {
        "self": "/",
        "graphql": "/graphql",
        "documentation": "/docs",
        "admin": "/admin/",
        "health": "/readyz",
        "openapi": "/openapi.json",
        "schema": "/schema.graphql",
        "oauth": "/.well-known/oauth-authorization-server",
        "protectedResource": "/.well-known/oauth-protected-resource",
        "posts": "/posts",
        "authors": "/authors",
        "events": "/events",
        "orders": "/orders",
        "users": "/users",
        **{own.plural: f"/{own.path}" for own in OWN_TYPES},
    }


@pytest.mark.parametrize("accept", ["text/html", CHROMIUM])
def test_browser_gets_a_page_without_scripts(accept: str) -> None:
    response = Client().get("/", headers={"Accept": accept, "Host": "localhost:8123"})

    page = response.content.decode()
    assert (response.status_code, response["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert response["Content-Security-Policy"] == (
        "default-src 'none'; style-src 'self'; img-src 'self' data:; font-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    assert "<script" not in page
    assert set(re.findall(r'<a [^>]*href="([^"]+)"', page)) == {
        *("/", "/graphql", "/docs", "/admin/", "/readyz", "/openapi.json", "/schema.graphql"),
        *("/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource"),
    }
    assert "curl http://localhost:8123/graphql" in page


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_each_link_leads_somewhere(accept: str) -> None:
    get_readiness.cache_clear()  # the result of a check in an earlier test is used for a second
    response = Client().get("/", headers={"Accept": accept})
    addresses = re.findall(r'"(/[^"]*)"', response.content.decode())

    statuses = {}
    for address in addresses:
        if address in PROBES:
            statuses[address] = int(respond_to_probe({"REQUEST_METHOD": "GET", "PATH_INFO": address}).status)
            continue
        followed = Client().get(address, headers={"Accept": "text/html, */*;q=0.1"})
        followed.getvalue()  # closes the file
        statuses[address] = followed.status_code

    needs_credential = {"/orders", "/users"} if accept == "application/json" else set()
    assert {address for address, status in statuses.items() if status == 401} == needs_credential
    assert {address for address, status in statuses.items() if status not in (200, 302, 401)} == set()


def test_schema_is_not_among_the_links_without_introspection(settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_introspection="off")

    assert "schema" not in Client().get("/").json()["_links"]
    assert b"schema.graphql" not in Client().get("/", headers={"Accept": "text/html"}).content


def test_page_and_json_have_their_own_etags() -> None:
    page = Client().get("/", headers={"Accept": "text/html"})
    json = Client().get("/")

    again = Client().get("/", headers={"Accept": "text/html", "If-None-Match": page["ETag"]})
    other = Client().get("/", headers={"If-None-Match": page["ETag"]})

    assert page["ETag"] != json["ETag"]
    assert (again.status_code, other.status_code) == (304, 200)
    assert "Accept" in page["Vary"]
    assert "RateLimit" in page


def test_samples_have_the_public_url(settings: Settings) -> None:
    settings.PUBLIC_URL = "https://api.example.com"

    page = Client().get("/", headers={"Accept": "text/html"}).content.decode()

    assert "curl https://api.example.com/graphql" in page
    assert "testserver" not in page
