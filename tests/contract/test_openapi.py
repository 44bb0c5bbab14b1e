"""schema/openapi.yaml against the URLs, the limits, the errors and the scopes."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, get_resolver

import orders.models
import orders.views
import users.models
import users.views
from contentapi.core import errors
from contentapi.core.identity import Scope
from tests.contract.test_sdl import iterate_error_classes
from tests.openapi import DOCUMENT, OPERATIONS, SCHEMAS, get_properties, resolve

# Described by the OAuth metadata, by GraphQL itself, or not for programs at all.
NOT_RESOURCES = ("admin/", "oauth/", "graphql", "previews", "uploads", ".well-known/oauth-")


# --- Paths ----------------------------------------------------------------------------------------------


def iterate_served_paths(patterns: list[Any], prefix: str = "") -> Iterator[str]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield route
        elif not route.startswith(NOT_RESOURCES):
            yield from iterate_served_paths(pattern.url_patterns, route)


def test_paths_are_those_of_the_urls() -> None:
    routes = iterate_served_paths(get_resolver().url_patterns)

    served = {"/" + re.sub(r"<str:(\w+)>", r"{\1}", route) for route in routes if not route.startswith(NOT_RESOURCES)}

    resources = {operation.path for operation in OPERATIONS.values() if not operation.is_document}
    assert [server["url"] for server in DOCUMENT["servers"]] == ["/"]
    assert served == set(DOCUMENT["paths"]) | {f"/v1{path}" for path in resources}


def test_methods_of_a_path_are_those_of_the_resource(client: Client) -> None:
    for path in DOCUMENT["paths"]:
        described = {operation.method for operation in OPERATIONS.values() if operation.path == path}

        allow = client.options(re.sub(r"{\w+}", "1", path))["Allow"]

        assert set(allow.split(", ")) - {"HEAD", "OPTIONS"} == described, path
        assert ("HEAD" in allow) is ("GET" in allow)


def test_each_path_parameter_is_described() -> None:
    for path, item in DOCUMENT["paths"].items():
        described = {one["name"] for one in map(resolve, item.get("parameters", [])) if one["in"] == "path"}
        assert described == set(re.findall(r"{(\w+)}", path)), path


def test_common_responses_of_each_operation_are_described() -> None:
    for operation in OPERATIONS.values():
        expected = {429, 500}
        if not operation.is_document:
            expected |= {400, 401, 406, 503}
        if operation.needs_a_credential:
            expected |= {403}
        if "requestBody" in operation.described:
            expected |= {413, 415, 422}
        if "{" in operation.path:
            expected |= {404}

        assert expected <= operation.statuses, operation.path


def test_operations_describe_the_response_with_an_error_alike() -> None:
    errors: dict[str, set[str]] = {}
    for operation in OPERATIONS.values():
        for status, described in operation.described["responses"].items():
            if int(status) >= 400:
                errors.setdefault(status, set()).add(described["$ref"])

    assert {status: places for status, places in errors.items() if len(places) > 1} == {}


@pytest.mark.parametrize(
    ("status", "header"), [(201, "Location"), (401, "WWW-Authenticate"), (429, "Retry-After"), (503, "Retry-After")]
)
def test_each_response_with_a_status_has_its_header(status: int, header: str) -> None:
    responses = [found.response(status) for found in OPERATIONS.values() if status in found.statuses]

    assert len(responses) > 1
    assert [response for response in responses if header not in response["headers"]] == []


@pytest.mark.parametrize(
    ("place", "limit"),
    [
        ("NewUser name maxLength", users.models.MAX_NAME),
        ("NewUser email maxLength", users.models.MAX_EMAIL),
        ("NewOrder total minimum", float(orders.models.SMALLEST_TOTAL)),
        ("NewOrder total maximum", float(orders.models.LARGEST_TOTAL)),
        ("Order total maximum", float(orders.models.LARGEST_TOTAL)),
    ],
)
def test_limit_that_is_written_by_hand_is_the_enforced_limit(place: str, limit: float) -> None:
    schema, field, keyword = place.split()

    assert get_properties(SCHEMAS[schema])[0][field][keyword] == limit


# --- Errors, scopes -------------------------------------------------------------------------------------


OF_GRAPHQL = set(iterate_error_classes(errors.Malformed)) - {errors.LimitExceeded}  # which `fields` may exceed
STATUSES = {kind.code: kind.status for kind in iterate_error_classes() if kind not in OF_GRAPHQL}


def test_error_codes_are_those_of_the_error_table() -> None:
    assert set(SCHEMAS["ErrorCode"]["enum"]) == set(STATUSES)


def test_each_error_is_described_under_its_status_with_its_code() -> None:
    described: dict[str, int] = {}
    for operation in OPERATIONS.values():
        for status in operation.statuses:
            codes = re.findall(r"`([A-Z_]+)`:", operation.response(status)["description"])
            assert bool(codes) is (status >= 400), (operation.id, status)
            described |= dict.fromkeys(codes, status)
            if codes:
                assert set(operation.response(status)["content"]) == {"application/json", "application/problem+json"}

    assert described == {code: status for code, status in STATUSES.items() if code != "METHOD_NOT_ALLOWED"}


def test_scopes_are_those_of_the_code() -> None:
    flows = DOCUMENT["components"]["securitySchemes"]["oauth2"]["flows"]

    assert flows["authorizationCode"]["scopes"] == dict(Scope.choices)
