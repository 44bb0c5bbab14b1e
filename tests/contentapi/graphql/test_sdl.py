"""GET /schema.graphql."""

from typing import Any

import msgspec
import pytest
from django.test import Client
from graphql import (
    ConstDirectiveNode,
    DocumentNode,
    GraphQLSchema,
    Visitor,
    build_schema,
    introspection_from_schema,
    lexicographic_sort_schema,
    parse,
    print_ast,
    visit,
)
from pytest_django import Settings

from contentapi.schema import SCHEMA, load_sdl
from tests.resources import send_request

PATH = "/schema.graphql"


@pytest.fixture
def without_introspection(settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_introspection="off")


def test_sdl_describes_the_schema_of_introspection(client: Client) -> None:
    response = client.get(PATH)

    assert (response.status_code, response.headers["Content-Type"]) == (200, "text/plain; charset=utf-8")
    served = build_schema(response.content.decode())
    assert introspect_in_order(served) == introspect_in_order(SCHEMA)
    assert {"RateLimit", "X-Request-ID"} <= set(response.headers)


def introspect_in_order(schema: GraphQLSchema) -> Any:
    return introspection_from_schema(lexicographic_sort_schema(schema))


def test_sdl_has_the_directives_of_the_source(client: Client) -> None:
    text = client.get(PATH).content.decode()

    served, source = (sorted(map(print_ast, find_directives(parse(each)))) for each in (text, load_sdl()))
    assert served == source
    assert '@cost(weight: "500")' in served
    assert "extend" not in {line.partition(" ")[0] for line in text.splitlines()}


def find_directives(document: DocumentNode) -> list[ConstDirectiveNode]:
    found: list[ConstDirectiveNode] = []

    class Collector(Visitor):
        def enter_directive(self, node: ConstDirectiveNode, *_: Any) -> None:
            found.append(node)

    visit(document, Collector())
    return found


@pytest.mark.usefixtures("without_introspection")
def test_sdl_is_404_when_introspection_is_off() -> None:
    response, problem = send_request("GET", PATH), send_request("GET", PATH, Accept="application/problem+json")

    assert response.error == (404, "NOT_FOUND", "There is nothing at this address.")
    assert (problem.status, problem.body["title"]) == (404, "Not Found")
