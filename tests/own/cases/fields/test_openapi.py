"""The documents of a project with own fields: openapi.json and the SDL. Nobody has written them there."""

import json
from typing import Any

import pytest
from django.test import Client
from graphql import build_schema
from openapi_spec_validator import validate


@pytest.fixture
def document(client: Client) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(client.get("/openapi.json").content)
    return read


def test_document_is_valid(document: dict[str, Any]) -> None:
    validate(document)


def test_objects_have_own_fields_without_limits(document: dict[str, Any]) -> None:
    post = document["components"]["schemas"]["Post"]

    assert post["properties"]["rating"]["type"] == ["integer", "null"]
    assert post["properties"]["isSponsored"] == {"type": "boolean", "description": "isSponsored"}
    assert post["properties"]["subtitle"] == {"type": ["string", "null"], "description": "A line under the title."}
    assert {"rating", "level", "sources"} <= {*post["required"]}
    assert document["components"]["schemas"]["Level"]["enum"] == ["beginner", "expert"]


@pytest.mark.parametrize("name", ["NewPost", "PostChanges", "WorkingCopyChanges"])
def test_bodies_have_own_fields_with_limits(document: dict[str, Any], name: str) -> None:
    body = document["components"]["schemas"][name]

    assert (body["properties"]["rating"]["minimum"], body["properties"]["rating"]["maximum"]) == (1, 5)
    assert body["properties"]["sources"]["maxItems"] == 3
    assert body["properties"]["sources"]["items"]["maxLength"] == 10
    assert "rating" not in body.get("required", ())


@pytest.mark.parametrize("path", ["/posts", "/authors/{author_id}/posts"])
def test_lists_have_filters_as_parameters(document: dict[str, Any], path: str) -> None:
    named = {each.get("name") for each in document["paths"][path]["get"]["parameters"]}

    assert {"rating", "isSponsored", "level", "sources"} <= named
    assert "subtitle" not in named


def test_sdl_has_the_inputs_and_the_copies(client: Client) -> None:
    schema: Any = build_schema(client.get("/schema.graphql").content.decode())

    types = {name: str(schema.type_map[name].fields["level"].type) for name in ("CreatePostInput", "WorkingCopy")}
    assert types == {"CreatePostInput": "Level", "WorkingCopy": "Level!"}
    assert str(schema.type_map["PostFilter"].fields["sources"].type) == "String"
