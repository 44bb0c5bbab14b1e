"""schema/openapi.yaml against the URLs, the SDL, the fragments, the bodies, the limits, the errors and the scopes."""

import re
from collections.abc import Iterator
from enum import Enum
from typing import Any

import msgspec
import pytest
from django.conf import settings
from django.test import Client
from django.urls import URLPattern, get_resolver
from graphql import (
    FieldNode,
    GraphQLEnumType,
    GraphQLObjectType,
    SelectionSetNode,
    get_named_type,
    get_nullable_type,
    is_list_type,
    is_non_null_type,
)
from openapi_spec_validator import validate

import blog.models
import blog.views
import orders.models
import orders.views
import users.models
import users.views
from blog.representations import REPRESENTATIONS
from contentapi.core import errors, pagination
from contentapi.core.identity import Scope
from contentapi.rest import Body, pages
from contentapi.rest.fragments import load_fragment
from contentapi.rest.representations import Representation
from contentapi.schema import SCHEMA
from tests.openapi import (
    DOCUMENT,
    OPERATIONS,
    SCHEMAS,
    find_problems,
    get_properties,
    get_types,
    iterate_examples,
    resolve,
)

# Described by the OAuth metadata, by GraphQL itself, or not for programs at all.
NOT_RESOURCES = ("admin/", "oauth/", "graphql", ".well-known/oauth-")


def test_document_is_valid_openapi() -> None:
    validate(DOCUMENT)


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


@pytest.mark.parametrize("path", DOCUMENT["paths"])
def test_methods_of_a_path_are_those_of_the_resource(path: str) -> None:
    described = {operation.method for operation in OPERATIONS.values() if operation.path == path}

    allow = Client().options(re.sub(r"{\w+}", "1", path))["Allow"]

    assert set(allow.split(", ")) - {"HEAD", "OPTIONS"} == described
    assert ("HEAD" in allow) is ("GET" in allow)


def test_each_path_parameter_is_described() -> None:
    for path, item in DOCUMENT["paths"].items():
        described = {one["name"] for one in map(resolve, item.get("parameters", [])) if one["in"] == "path"}
        assert described == set(re.findall(r"{(\w+)}", path)), path


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=list(OPERATIONS))
def test_common_responses_of_each_operation_are_described(operation: Any) -> None:
    expected = {429, 500}
    if not operation.is_document:
        expected |= {400, 401, 406, 503}
    if operation.needs_a_credential:
        expected |= {403}
    if "requestBody" in operation.described:
        expected |= {413, 415, 422}
    if "{" in operation.path:
        expected |= {404}

    assert expected <= operation.statuses


# --- Representations ------------------------------------------------------------------------------------

SCALARS = {
    "ID": {"type": "string"},
    "String": {"type": "string"},
    "Int": {"type": "integer"},
    "DateTime": {"type": "string", "format": "date-time"},
}


@pytest.mark.parametrize("representation", REPRESENTATIONS, ids=lambda found: found.name)
def test_representation_has_the_fields_of_its_fragment(representation: Representation) -> None:
    kind = representation.projection.name
    path = settings.SCHEMA_DIR / "resources" / f"{kind.lower()}.graphql"

    selection = load_fragment(SCHEMA, path).selection_set

    compare(SCHEMA.type_map[kind], selection, SCHEMAS[kind], optional={representation.optional})


def compare(kind: Any, selection: SelectionSetNode, schema: dict[str, Any], optional: set[str | None]) -> None:
    described, required = get_properties(schema)
    nodes = {node.name.value: node for node in selection.selections if isinstance(node, FieldNode)}
    assert list(described) == list(nodes)
    assert required == set(nodes) - optional
    for name, node in nodes.items():
        field = kind.fields[name].type
        is_nullable = not is_non_null_type(field) and name not in optional
        assert ("null" in get_types(described[name])) is is_nullable, name
        compare_type(get_nullable_type(field), node, described[name])


def compare_type(kind: Any, node: FieldNode, schema: dict[str, Any]) -> None:
    found = resolve(schema)
    if is_list_type(kind):
        assert found["type"] == "array"
        compare_type(get_nullable_type(kind.of_type), node, found["items"])
    elif isinstance(kind, GraphQLObjectType):
        assert node.selection_set
        compare(kind, node.selection_set, found, optional=set())
    elif isinstance(kind, GraphQLEnumType):
        assert found["enum"] == list(kind.values)
    else:
        wanted = SCALARS[get_named_type(kind).name]
        assert get_types(found) - {"null"} == {wanted["type"]}
        assert found.get("format") == wanted.get("format")


@pytest.mark.parametrize(
    ("struct", "schema"),
    [
        (orders.views.OrderRepresentation, "Order"),
        (orders.views.OrderLink, "Link"),
        (orders.views.TrackingRepresentation, "Tracking"),
        (users.views.UserRepresentation, "User"),
    ],
)
def test_representation_has_the_fields_of_its_struct(struct: type[msgspec.Struct], schema: str) -> None:
    written = build_schema(struct)
    described, required = get_properties(SCHEMAS[schema])

    assert list(described) == list(written["properties"])
    assert required == set(written["required"])
    for name, property_ in written["properties"].items():
        assert get_types(described[name]) == get_accepted_types(property_) or name in ("total", "_links")


def test_states_are_those_of_the_models() -> None:
    assert SCHEMAS["PostStatus"]["enum"] == blog.models.PostStatus.values
    assert SCHEMAS["OrderStatus"]["enum"] == orders.models.OrderStatus.values


def test_all_links_of_an_order_are_described() -> None:
    assert set(SCHEMAS["Order"]["properties"]["_links"]["properties"]) == {"self", "cancel", "payment", "track"}


# --- Bodies ---------------------------------------------------------------------------------------------


def iterate_bodies(kind: type[Body] = Body) -> Iterator[type[Body]]:
    for below in kind.__subclasses__():
        yield below
        yield from iterate_bodies(below)


def build_schema(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the schema that msgspec writes for a Struct."""
    (whole,), components = msgspec.json.schema_components([struct], schema_hook=describe_enumeration)
    found: dict[str, Any] = components[whole["$ref"].rsplit("/", 1)[-1]]
    return found


def describe_enumeration(kind: type) -> dict[str, Any]:
    """Describe an enumeration that msgspec does not know."""
    assert issubclass(kind, Enum)
    return {"enum": [member.value for member in kind]}


def get_accepted_types(schema: dict[str, Any]) -> set[str]:
    if "anyOf" in schema:
        return set().union(*map(get_accepted_types, schema["anyOf"]))
    if "enum" in schema or "$ref" in schema:
        return {"string"}
    return {schema["type"]}


@pytest.mark.parametrize(
    "kind", [kind for kind in iterate_bodies() if "tests" not in kind.__module__], ids=lambda kind: kind.__name__
)
def test_schema_of_a_body_equals_its_struct(kind: type[Body]) -> None:
    decoded = build_schema(kind)
    described, required = get_properties(SCHEMAS[kind.__name__])

    assert set(described) == set(decoded["properties"])
    assert SCHEMAS[kind.__name__]["additionalProperties"] is decoded["additionalProperties"] is False
    if kind is not users.views.NewUser:  # there what is missing is against a rule, as what is empty
        assert required == set(decoded["required"])
    for name, property_ in decoded["properties"].items():
        without_null = get_accepted_types(property_) - {"null"}
        assert get_types(described[name]) - {"null"} == without_null or name == "total"
        assert get_types(described[name]) <= get_accepted_types(property_) | {"number"}


def test_null_is_described_where_it_is_accepted() -> None:
    nullable = {
        (name, field)
        for name in ("NewPost", "PostChanges", "ExpectedVersionBody", "NewComment", "NewOrder", "NewUser")
        for field, schema in get_properties(SCHEMAS[name])[0].items()
        if "null" in get_types(schema)
    }

    assert nullable == {
        ("NewPost", "authorId"), ("NewPost", "tags"), ("NewPost", "status"), ("NewPost", "publishAt"),
        ("PostChanges", "publishAt"), ("PostChanges", "expectedVersion"), ("ExpectedVersionBody", "expectedVersion"),
    }  # fmt: skip


def test_schemas_and_structs_of_bodies_have_the_same_names() -> None:
    described = {
        content["schema"]["$ref"].rsplit("/", 1)[-1]
        for operation in OPERATIONS.values()
        for content in operation.described.get("requestBody", {}).get("content", {}).values()
    }

    assert described == {kind.__name__ for kind in iterate_bodies() if "tests" not in kind.__module__}


@pytest.mark.parametrize(
    ("place", "limit"),
    [
        ("NewPost title maxLength", blog.models.MAX_TITLE),
        ("PostChanges title maxLength", blog.models.MAX_TITLE),
        ("Post title maxLength", blog.models.MAX_TITLE),
        ("NewPost body maxLength", blog.models.MAX_BODY),
        ("PostChanges body maxLength", blog.models.MAX_BODY),
        ("NewPost tags maxItems", blog.models.MAX_TAGS),
        ("PostChanges tags maxItems", blog.models.MAX_TAGS),
        ("NewUser name maxLength", users.models.MAX_NAME),
        ("NewUser email maxLength", users.models.MAX_EMAIL),
        ("NewOrder total minimum", float(orders.models.SMALLEST_TOTAL)),
        ("NewOrder total maximum", float(orders.models.LARGEST_TOTAL)),
        ("Order total maximum", float(orders.models.LARGEST_TOTAL)),
    ],
)
def test_described_limit_is_the_enforced_limit(place: str, limit: float) -> None:
    schema, field, keyword = place.split()

    assert get_properties(SCHEMAS[schema])[0][field][keyword] == limit


def test_limits_of_tags_and_pages_are_the_enforced_limits() -> None:
    parameters = DOCUMENT["components"]["parameters"]

    assert get_properties(SCHEMAS["NewPost"])[0]["tags"]["items"]["maxLength"] == blog.models.MAX_TAG
    assert parameters["Limit"]["schema"]["default"] == pagination.DEFAULT_PAGE
    assert parameters["Limit"]["schema"]["maximum"] == settings.ENVIRONMENT.contentapi_max_page
    assert parameters["Offset"]["schema"]["maximum"] == pages.MAX_OFFSET


# --- Errors, scopes, examples ---------------------------------------------------------------------------


def iterate_error_classes(kind: type[errors.ApiError] = errors.ApiError) -> Iterator[type[errors.ApiError]]:
    for below in kind.__subclasses__():
        yield below
        yield from iterate_error_classes(below)


OF_GRAPHQL = set(iterate_error_classes(errors.Malformed))
STATUSES = {kind.code: kind.status for kind in iterate_error_classes() if kind not in OF_GRAPHQL}


def test_error_codes_are_those_of_the_error_table() -> None:
    assert set(SCHEMAS["ErrorCode"]["enum"]) == set(STATUSES)


def test_each_error_is_described_under_its_status_with_its_code() -> None:
    described = {}
    for operation in OPERATIONS.values():
        for status in operation.statuses:
            code = re.match(r"`([A-Z_]+)`:", operation.response(status)["description"])
            assert (code is not None) is (status >= 400), (operation.id, status)
            if code:
                described[code[1]] = status
                assert set(operation.response(status)["content"]) == {"application/json", "application/problem+json"}

    assert described == {code: status for code, status in STATUSES.items() if code != "METHOD_NOT_ALLOWED"}


def test_scopes_are_those_of_the_code() -> None:
    flows = DOCUMENT["components"]["securitySchemes"]["oauth2"]["flows"]

    assert flows["authorizationCode"]["scopes"] == dict(Scope.choices)


@pytest.mark.parametrize(
    ("place", "schema", "value"),
    list(iterate_examples(DOCUMENT)),
    ids=lambda found: found if isinstance(found, str) else "",
)
def test_example_is_valid_for_its_schema(place: str, schema: dict[str, Any], value: Any) -> None:  # noqa: ARG001
    assert find_problems(schema, value) == []
