"""Reads schema/openapi.yaml: operations, schemas and examples."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from jsonschema_rs import Draft202012Validator

import contentapi.schema  # noqa: F401 - binds the representations of own types
from contentapi.rest.openapi import load_openapi_document

DOCUMENT = load_openapi_document()
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
METHODS = ("get", "post", "put", "patch", "delete")


class Operation(NamedTuple):
    path: str
    method: str
    described: dict[str, Any]

    @property
    def id(self) -> str:
        name: str = self.described["operationId"]
        return name

    @property
    def statuses(self) -> set[int]:
        return {int(status) for status in self.described["responses"]}

    @property
    def needs_a_credential(self) -> bool:
        return {} not in self.described["security"]

    @property
    def is_document(self) -> bool:
        return "documents" in self.described["tags"]

    @property
    def media_types(self) -> tuple[str, ...]:
        """Those of the body that the operation takes, if it takes one."""
        return tuple(resolve(self.described["requestBody"])["content"]) if "requestBody" in self.described else ()

    @property
    def kind(self) -> tuple[object, ...]:
        """What `Resource` distinguishes."""
        headers = {"If-Match", "If-None-Match", "Idempotency-Key", "X-API-Version"} & self.parameters
        return (
            self.method,
            self.media_types,
            self.needs_a_credential,
            self.is_document,
            "{" in self.path,
            *sorted(headers),
        )

    @property
    def parameters(self) -> set[str]:
        both = [*DOCUMENT["paths"][self.path].get("parameters", []), *self.described.get("parameters", [])]
        return {resolve(parameter)["name"] for parameter in both}

    def response(self, status: int) -> dict[str, Any]:
        found: dict[str, Any] = resolve(self.described["responses"][str(status)])
        return found


OPERATIONS = {
    item[method]["operationId"]: Operation(path, method.upper(), item[method])
    for path, item in DOCUMENT["paths"].items()
    for method in METHODS
    if method in item
}


def resolve(node: Any) -> Any:
    """Follow a `$ref` to its target, and add the members beside the `$ref`."""
    while "$ref" in node:
        target: Any = DOCUMENT
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = {**target, **{name: value for name, value in node.items() if name != "$ref"}}
    return node


def get_properties(schema: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """Return the properties of an object schema and the names of the required ones, including those of `allOf`."""
    whole = resolve(schema)
    parts = [get_properties(part) for part in whole.get("allOf", [])]
    own = whole.get("properties", {})
    return (
        {name: value for part, _ in parts for name, value in part.items()} | own,
        set(whole.get("required", [])).union(*[required for _, required in parts]),
    )


def get_types(schema: Mapping[str, Any]) -> set[str]:
    whole = resolve(schema)
    if "anyOf" in whole:
        return set().union(*map(get_types, whole["anyOf"]))
    found = whole["type"]
    return {found} if isinstance(found, str) else set(found)


def find_problems(schema: Mapping[str, Any], value: Any) -> list[str]:
    """Return the validation errors of a value."""
    errors = build_validator(json.dumps(schema)).iter_errors(value)
    return [f"{'/'.join(map(str, error.instance_path))}: {error.message[:300]}" for error in errors]


@cache  # each takes milliseconds, and most responses have the same headers and errors
def build_validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator({**json.loads(schema), "components": DOCUMENT["components"]}, validate_formats=True)


def iterate_examples(node: Any, place: str = "") -> Iterator[tuple[str, Mapping[str, Any], Any]]:
    """Yield the path, the schema and the value of each example."""
    if isinstance(node, list):
        for number, item in enumerate(node):
            yield from iterate_examples(item, f"{place}/{number}")
    elif isinstance(node, dict):
        if "schema" in node and "example" in node:
            yield place, node["schema"], node["example"]
        for name, example in node.get("examples", {}).items() if "schema" in node else ():
            yield f"{place}/{name}", node["schema"], example["value"]
        for name, item in node.items():
            yield from iterate_examples(item, f"{place}/{name}")
