"""What own fields and own types add to the OpenAPI document."""

import json
from copy import deepcopy
from typing import Any

from graphql import GraphQLEnumType, get_nullable_type, is_composite_type, is_list_type, is_non_null_type

from contentapi.core.identity import Scope
from contentapi.events.declarations import load_apps
from contentapi.events.sources import get_event_types
from contentapi.types.bodies import Schema, add_null, describe_enums, describe_filter, describe_member, refer
from contentapi.types.declared import load_own_types
from contentapi.types.fields import SCALARS, TRAITS, OwnType
from contentapi.types.generation import render
from contentapi.types.own_fields import DECLARED, OwnFields

# The beginning of a description, by the value of `read` or `write` in `@type`
RULES = {
    "public": "Everybody may read them. What is not public requires",
    "member": "Requires a credential with",
    "staff": "Requires an editor's credential with",
    "author": "Authors write their own, editors all. Requires",
    "editor": "Requires an editor's credential with",
    "admin": "Requires an admin's credential with",
}


# --- Own fields -----------------------------------------------------------------------------------------


def describe_own_fields(document: Schema) -> None:
    """Add the own fields to the objects, the bodies and the parameters."""
    schemas = document["components"]["schemas"]
    for own in DECLARED.values():
        schemas |= describe_enums(own.fields)
        for name in own.schemas:
            describe_fields(schemas[name], own, is_body=name not in (own.type_name, *own.copies))
        for path in own.lists:
            operation = document["paths"][path]["get"]
            filters = [describe_filter(field.name, field) for field in own.filters.values()]
            operation["parameters"] = [*operation["parameters"], *filters]


def describe_fields(schema: Schema, own: OwnFields, *, is_body: bool) -> None:
    """Add the own fields to the schema of an object or a body. Null clears a field in a body."""
    for field in own.fields.values():
        is_nullable = is_body or not field.is_never_null
        schema["properties"][field.name] = describe_member(field, is_nullable=is_nullable, has_limits=is_body)
    if own.fields and not is_body:
        schema["required"] = [*schema.get("required", ()), *own.names]


# --- Own types ------------------------------------------------------------------------------------------


def write_paths() -> str:
    """Return the paths of own types as YAML, which refers to anchors of schema/openapi.yaml."""
    return "\n".join(
        render(
            "openapi.yaml",
            own,
            id=f"{{{own.snake}_id}}",
            reads=RULES[own.read],
            writes=RULES[own.write],
            filters=[json.dumps(describe_filter(name, field)) for name, field in own.filters.items()],
            publications=own.verbs[3:],
        )
        for own in load_own_types()
    )


def add_own_types(document: Schema) -> None:
    """Add what the document says of own types, beside their paths."""
    add_names(document)
    schemas = document["components"]["schemas"]
    for own in load_own_types():
        document["tags"].append({"name": own.path, "description": own.description or own.nouns})
        schemas |= build_schemas(own, schemas)


def add_names(document: Schema) -> None:
    """Add the scopes and the types of events."""
    flows = document["components"]["securitySchemes"]["oauth2"]["flows"]
    flows["authorizationCode"]["scopes"] = dict(Scope.choices)
    for schema in document["components"]["schemas"].values():
        if "scopes" in schema.get("properties", {}):
            schema["properties"]["scopes"]["items"]["enum"] = Scope.values
    for parameter in document["paths"]["/events"]["get"]["parameters"]:
        if parameter.get("name") == "type":
            parameter["schema"]["items"]["enum"] = [*get_event_types().meanings]


def build_schemas(own: OwnType, schemas: Schema) -> Schema:
    """Return the schemas of the representation, of a page, of the bodies and of the enums."""
    shown = next(each for app in load_apps() for each in app.representations if each.noun == own.noun)
    page = deepcopy(schemas["WebhookPage"])
    page["description"] = f"A page of {own.nouns}, by cursor or by offset."
    page["properties"]["data"]["items"] = refer(own.name)
    new = describe_body(own, f"A new {own.noun}.")
    new["required"] = [field.input_name for field in own.fields if field.is_needed]
    changes = describe_body(own, f"Changes of {own.a_noun}.")
    changes["properties"] |= schemas["ExpectedVersionBody"]["properties"]
    row = describe_object(shown.kind, shown.selection)
    return {
        own.name: {"description": own.description, **row},
        f"{own.name}Page": page,
        f"New{own.name}": new,
        f"{own.name}Changes": changes,
        **describe_enums({field.name: field for field in own.fields}),
    }


def describe_body(own: OwnType, description: str) -> Schema:
    properties = {field.input_name: describe_member(field, is_nullable=not field.is_required) for field in own.fields}
    described = {"description": description, "type": "object"}
    return {**described, "properties": properties, "additionalProperties": False}


def describe_object(kind: Any, selection: Any) -> Schema:
    properties = {each.key: describe_output(kind.fields[each.name], each.selection) for each in selection}
    return {"type": "object", "required": [*properties], "properties": properties}


def describe_output(field: Any, selection: Any) -> Schema:
    schema = describe_type(get_nullable_type(field.type), selection)
    if not is_non_null_type(field.type):
        schema |= {"enum": [*schema["enum"], None]} if "enum" in schema else {}
        schema = add_null(schema)
    return {**schema, "description": field.description or ""}


def describe_type(kind: Any, selection: Any) -> Schema:
    if is_list_type(kind):
        return {"type": "array", "items": describe_type(get_nullable_type(kind.of_type), selection)}
    if is_composite_type(kind):
        return describe_object(kind, selection)
    if isinstance(kind, GraphQLEnumType):
        return {"type": "string", "enum": [*kind.values]}
    return TRAITS[SCALARS[kind.name]].describe() if kind.name in SCALARS else {"type": "string"}
