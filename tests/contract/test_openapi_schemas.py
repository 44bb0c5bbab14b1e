"""The schemas of schema/openapi.yaml against the representations, and the structs of bodies."""

from typing import Any

import msgspec
import pytest

import orders.models
import orders.views
import users.models
import users.views
from blog.models import CONTENT_FIELDS, OPTIONAL
from contentapi.core.text import convert_to_camel
from contentapi.rest import Body
from contentapi.rest.representations import Representation
from tests.contract.openapi_schemas import describe_enumeration, iterate_bodies
from tests.openapi import DOCUMENT, OPERATIONS, SCHEMAS, find_problems, get_properties, get_types, iterate_examples

# --- Representations ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("representation", "schema"),
    [(orders.views.ORDER, "Order"), (orders.views.TRACKING, "Tracking"), (users.views.USER, "User")],
)
def test_schema_written_by_hand_has_the_fields_of_its_fragment(representation: Representation, schema: str) -> None:
    described, required = get_properties(SCHEMAS[schema])

    assert list(described) == [each.key for each in representation.selection]
    assert required == set(described)


def test_states_of_orders_are_those_of_the_model() -> None:
    assert SCHEMAS["OrderStatus"]["enum"] == orders.models.OrderStatus.values


def test_all_links_of_an_order_are_described() -> None:
    assert set(SCHEMAS["Order"]["properties"]["_links"]["properties"]) == {"self", "cancel", "payment", "track"}


# --- Bodies ---------------------------------------------------------------------------------------------


def build_schema(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the schema that msgspec writes for a Struct."""
    (whole,), components = msgspec.json.schema_components([struct], schema_hook=describe_enumeration)
    found: dict[str, Any] = components[whole["$ref"].rsplit("/", 1)[-1]]
    return found


def get_accepted_types(schema: dict[str, Any]) -> set[str]:
    if "anyOf" in schema:
        return set().union(*map(get_accepted_types, schema["anyOf"]))
    if "enum" in schema or "$ref" in schema:
        return {"string"}
    return {"integer" if schema.get("multipleOf") == 1 else schema["type"]}


@pytest.mark.parametrize("kind", [*iterate_bodies()], ids=lambda kind: kind.__name__)
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
        for name in (
            *("NewPost", "PostChanges", "WorkingCopyChanges", "ExpectedVersionBody"),
            *("NewComment", "NewOrder", "NewUser"),
        )
        for field, schema in get_properties(SCHEMAS[name])[0].items()
        if "null" in get_types(schema)
    }

    assert nullable == {
        ("NewPost", "authorId"), ("NewPost", "coauthorIds"), ("NewPost", "status"),
        *(("NewPost", field.api_name) for field in CONTENT_FIELDS if field.name not in ("title", "body")),
        *((name, convert_to_camel(field)) for name in ("PostChanges", "WorkingCopyChanges") for field in OPTIONAL),
        *((name, "publishAt") for name in ("NewPost", "PostChanges", "WorkingCopyChanges")),
        *((name, "expectedVersion") for name in ("PostChanges", "WorkingCopyChanges", "ExpectedVersionBody")),
        ("WorkingCopyChanges", "baseVersion"),
    }  # fmt: skip


def test_schemas_and_structs_of_bodies_have_the_same_names() -> None:
    described = {
        content["schema"]["$ref"].rsplit("/", 1)[-1]
        for operation in OPERATIONS.values()
        for media_type, content in operation.described.get("requestBody", {}).get("content", {}).items()
        if media_type.endswith("json")
    }

    assert described == {kind.__name__ for kind in iterate_bodies()}


# --- Examples -------------------------------------------------------------------------------------------


def test_each_example_is_valid_for_its_schema() -> None:
    found = {place: find_problems(schema, value) for place, schema, value in iterate_examples(DOCUMENT)}

    assert len(found) > 100
    assert {place: problems for place, problems in found.items() if problems} == {}
