"""The schemas of representations and bodies in schema/openapi.yaml, from the SDL, the fragments and the bodies."""

import json
import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLObjectType,
    get_named_type,
    get_nullable_type,
    is_list_type,
    is_non_null_type,
)

from contentapi.core.identity import Role, list_own_scopes
from contentapi.projection.selections import SelectedField
from contentapi.rest import Body
from contentapi.rest.openapi import read_openapi_file
from contentapi.schema import APPS, EVENT_TYPES, SCHEMA
from contentapi.types import runtime
from contentapi.types.bodies import add_null, refer
from contentapi.types.declared import load_own_types
from contentapi.types.own_fields import DECLARED, OwnFields
from tests.content import TEXT_FIELDS
from tests.contract.openapi_details import (
    EXAMPLE,
    NULLABLE,
    OWN,
    PAGE,
    STORABLE,
    Schema,
    find_description,
    find_keywords,
)

WIDTH = 120
OWN_TYPES = {each.name for each in load_own_types()}  # which are in no file
OWN_KINDS = tuple(f"{name.lower()}." for name in OWN_TYPES)
OWN_SCOPES = {value for each in Role for value in list_own_scopes(each)}
REPRESENTATIONS = [each for app in APPS for each in app.representations if each.projection.name not in OWN_TYPES]
NAMES = {"PostImage": "Cover", "Author": "Profile"}  # of objects inside of a representation
INLINE = {"Image", "PreviewAddress"}
EXTENDED = {  # a representation with what only one response has: the members of a payload
    "CreatedPreviewLink": ("PreviewLink", "CreatePreviewLinkPayload"),
    "WebhookWithSecret": ("Webhook", "CreateWebhookPayload"),
}
HAND_WRITTEN = {"EmptyBody", "EventPage", "NewOrder", "NewUser", "WebhookDeliveryPage"}  # bodies, and pages by cursor
INPUTS = {  # the input of the SDL that describes a body, unless it has the name that `find_inputs` expects
    "ExpectedVersionBody": "UpdatePostInput",
    "NewComment": "AddCommentInput",
    "NewReplay": "ReplayWebhookInput",
    "WorkingCopyChanges": "SaveWorkingCopyInput",
}
SCALARS: dict[str, Schema] = {
    "Boolean": {"type": "boolean"},
    "Float": {"type": "number"},
    "ID": {"type": "string"},
    "String": {"type": "string"},
    "Int": {"type": "integer"},
    "DateTime": {"type": "string", "format": "date-time"},
}
Selection = Iterable[SelectedField]
WHOLE_WORDS: Any = {"break_long_words": False, "break_on_hyphens": False}
RESERVED = {"null", "true", "false", "yes", "no", "on", "off"}  # in YAML


def build_schemas() -> dict[str, Schema]:
    """Return the schemas by their names."""
    found: dict[str, Schema] = {}
    kind: Any
    for representation in REPRESENTATIONS:
        if representation.represent is not None:  # it is written by hand
            continue
        name = representation.projection.name
        found[name] = describe_object(SCHEMA.type_map[name], representation.selection, name, found)
    for name, (base, payload) in EXTENDED.items():
        kind = SCHEMA.type_map[payload]
        more = {key: field for key, field in kind.fields.items() if get_named_type(field.type).name != base}
        added = {key: describe_output(name, key, field, (), found) for key, field in more.items()}
        found[name] = build_object(name, kind.description, {**found[base]["properties"], **added})
    described = [body for body in iterate_bodies() if body.__module__ != runtime.__name__]  # not those of own types
    bodies = {body.__name__: body for body in described if body.__name__ not in HAND_WRITTEN}
    found |= {name: describe_body(body, find_inputs(name)) for name, body in bodies.items()}
    found |= {name: describe_page(name.removesuffix("Page")) for name in iterate_pages()}
    for own in DECLARED.values():
        remove_own_fields(found, own)
    return {name: found[name] for name in sorted(found)}


def remove_own_fields(found: dict[str, Schema], own: OwnFields) -> None:
    """Remove the own fields of a type, which the server adds to the document."""
    for field in own.fields.values():
        found.pop(field.type_name, None)
        for name in own.schemas:
            del found[name]["properties"][field.name]
            found[name]["required"] = [each for each in found[name].get("required", ()) if each != field.name]
            if not found[name]["required"]:
                del found[name]["required"]


def iterate_pages() -> Iterator[str]:
    """Yield the names of the pages of lists, but for those by cursor alone."""
    for item in read_openapi_file()["paths"].values():
        content = item.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
        name = content.get("application/json", {}).get("schema", {}).get("$ref", "").rsplit("/", 1)[-1]
        if name.endswith("Page") and name not in HAND_WRITTEN:
            yield name


def describe_page(item: str) -> Schema:
    words = re.sub(r"(?<!^)(?=[A-Z])", " ", item).lower()
    kind = SCHEMA.type_map.get(f"{item}Connection")
    text = re.split(r"\.| on ", kind.description or "")[0] if kind else f"A page of {words}s"
    data = {"description": "The items.", "type": "array", "items": refer(item)}
    page = build_object(f"{item}Page", f"{text}, by cursor or by offset.", {"data": data, **PAGE}, optional=PAGE)
    return {**page, "additionalProperties": False}


def build_object(name: str, description: str | None, properties: Schema, *, optional: Iterable[str] = ()) -> Schema:
    required = [key for key in properties if key not in optional]
    described: Schema = {"description": OWN.get(name) or " ".join((description or "").split()), "type": "object"}
    return {**described, **({"required": required} if required else {}), "properties": properties}


# --- Representations ------------------------------------------------------------------------------------


def describe_object(kind: Any, selection: Selection, name: str, found: dict[str, Schema]) -> Schema:
    """Describe an object with the fields of a selection, by default all. `email_: email` may be left out."""
    optional = [each.name for each in selection if each.key == f"{each.name}_"]
    fields = {each.name: (kind.fields[each.name], each.selection) for each in selection}
    fields = fields or {key: (field, ()) for key, field in kind.fields.items()}
    properties = {
        key: describe_output(name, key, field, below, found, is_left_out=key in optional)
        for key, (field, below) in fields.items()
    }
    return build_object(name, kind.description, properties, optional=optional)


def describe_output(
    owner: str, key: str, field: Any, below: Selection, found: dict[str, Schema], *, is_left_out: bool = False
) -> Schema:
    """Describe a field of the SDL. One that is left out if it is null is never null."""
    written, is_nullable = str(field.type), not is_non_null_type(field.type) and not is_left_out
    if (key, written) == ("id", "ID!"):
        return refer("Id")
    schema = refer("Moment") if written == "DateTime!" else describe_type(field.type, below, found)
    described = {"description": find_description(owner, key, field.description)}
    return {**(add_null(schema) if is_nullable else schema), **find_keywords(owner, key), **described}


def describe_type(written: Any, below: Selection, found: dict[str, Schema]) -> Schema:
    """Return the schema of the values of a type that are not null."""
    kind: Any = get_nullable_type(written)
    if is_list_type(kind):
        return {"type": "array", "items": describe_type(kind.of_type, below, found)}
    if isinstance(kind, GraphQLEnumType):
        values = [f"`{value}`: {each.description}" for value, each in kind.values.items()]
        description = " ".join([kind.description or "", *values])
        found[kind.name] = {"description": description, "type": "string", "enum": list(kind.values)}
        return refer(kind.name)
    if isinstance(kind, GraphQLObjectType):
        name = NAMES.get(kind.name, kind.name)
        schema = describe_object(kind, below, name, found)
        if kind.name in INLINE:
            return schema
        found[name] = schema
        return refer(name)
    return dict(SCALARS[kind.name])


# --- Bodies ---------------------------------------------------------------------------------------------


def iterate_bodies(kind: type[Body] = Body) -> Iterator[type[Body]]:
    """Yield the bodies of the project. Tests have bodies of their own."""
    for below in kind.__subclasses__():
        if not below.__module__.startswith("tests."):
            yield below
            yield from iterate_bodies(below)


def describe_body(body: type[Body], inputs: Iterable[str]) -> Schema:
    """Describe a body. Its types are those of the struct, its texts those of the inputs of the SDL."""
    kinds = [SCHEMA.type_map[each] for each in inputs]
    described = {key: field for kind in kinds for key, field in kind.fields.items()}  # type: ignore[attr-defined]
    (whole,), components = msgspec.json.schema_components([body], schema_hook=describe_enumeration)
    decoded = components[whole["$ref"].rsplit("/", 1)[-1]]["properties"]
    properties = {}
    for field in msgspec.structs.fields(body):
        key, of_sdl = field.encode_name, described.get(field.encode_name)
        variants = decoded[key].get("anyOf", [decoded[key]])
        schema = describe_input(of_sdl and get_named_type(of_sdl.type), variants[0], find_keywords(body.__name__, key))
        may_be_null = field.default is None or field.name in NULLABLE or body.__name__.startswith("New")
        text = find_description(body.__name__, key, of_sdl and of_sdl.description)
        properties[key] = {**(add_null(schema) if len(variants) > 1 and may_be_null else schema), "description": text}
    optional = {field.encode_name for field in msgspec.structs.fields(body) if not field.required}
    schema = build_object(body.__name__, kinds[-1].description, properties, optional=optional)
    return {**schema, "additionalProperties": False}


def find_inputs(name: str) -> list[str]:
    """Return the inputs that describe a body: of `PostChanges`, those that create and update a post."""
    subject = name.removeprefix("New").removesuffix("Changes")
    prefixes = ["Create"] if name.startswith("New") else ["Create", "Update"]
    names = [INPUTS[name]] if name in INPUTS else [f"{prefix}{subject}Input" for prefix in prefixes]
    found = [each for each in names if each in SCHEMA.type_map]
    if not found:
        raise TypeError(f"The SDL has no input {' or '.join(names)}, which describes the body {name}.")
    return found


def describe_enumeration(kind: type) -> Schema:
    """Describe an enumeration that msgspec does not know."""
    return {"type": "string", "enum": [member.value for member in kind if member not in OWN_SCOPES]}  # type: ignore[attr-defined]


def describe_input(of_sdl: Any, decoded: Schema, keywords: Schema) -> Schema:
    """Return the schema of a value that is not null: an enum or an object of the SDL, or what the struct decodes."""
    if isinstance(of_sdl, GraphQLEnumType):
        return refer(of_sdl.name)
    if isinstance(of_sdl, GraphQLInputObjectType):
        properties = {key: describe_output("", key, field, (), {}) for key, field in of_sdl.fields.items()}
        return {**build_object("", of_sdl.description, properties), "additionalProperties": False}
    schema = {**decoded, **keywords}
    if schema.pop("multipleOf", None):
        schema["type"] = "integer"
    if schema["type"] == "array":
        schema["items"] = describe_input(None, decoded["items"], keywords.get("items", {}))
    if schema["type"] == "string" and not schema.keys() & {"format", "enum", "pattern"}:
        schema["pattern"] = STORABLE
    return schema


# --- YAML -----------------------------------------------------------------------------------------------


def render_schemas() -> str:
    return "\n".join(render_mapping(build_schemas(), 4))


def render_types() -> str:
    """Return the types of events."""
    return "\n".join(
        f"{' ' * 16}- {render_value(name)}" for name in EVENT_TYPES.meanings if not name.startswith(OWN_KINDS)
    )


def render_example() -> str:
    """Return the content in the example of a post. A field without a value there shows the word for it."""
    texts = {field.api_name: EXAMPLE.get(field.api_name, field.label) for field in TEXT_FIELDS}
    return "\n".join(render_mapping(texts, 26))


def render_mapping(members: Schema, indent: int) -> Iterator[str]:
    """Yield the lines of a mapping. Each schema of an object has a line for each of its members."""
    space = " " * indent
    for key, value in members.items():
        if indent == 4 or key == "properties" or (isinstance(value, dict) and "properties" in value):
            yield f"{space}{key}:"
            yield from render_mapping(value, indent + 2)
        else:
            text = f"{key}: {render_value(value)}"
            yield textwrap.fill(text, WIDTH, initial_indent=space, subsequent_indent=f"{space}  ", **WHOLE_WORDS)


def render_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {render_value(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(render_value, value)) + "]"
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z][\w./() -]*[\w.)]", value) and value not in RESERVED:
        return value
    return json.dumps(value, ensure_ascii=False)
