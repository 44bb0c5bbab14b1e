"""The paths and schemas of own types in the OpenAPI document. Their operations are like those of webhooks."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from graphql import GraphQLEnumType, get_nullable_type, is_composite_type, is_list_type, is_non_null_type

from contentapi.core.identity import Scope
from contentapi.events.declarations import get_event_types, load_apps
from contentapi.types.declared import AUTHOR
from contentapi.types.fields import Kind, OwnField
from contentapi.types.models import OwnModel, list_own_models

Schema = dict[str, Any]
LIST, ONE = "/webhooks", "/webhooks/{webhook_id}"  # the paths whose operations are copied
VERSION_BODY = "ExpectedVersionBody"
STORABLE = r"^[^\x00]*$"
SCALARS: dict[str, Schema] = {
    "Boolean": {"type": "boolean"},
    "Float": {"type": "number"},
    "ID": {"type": "string"},
    "Int": {"type": "integer"},
    "String": {"type": "string"},
    "DateTime": {"type": "string", "format": "date-time"},
    "relation": {"type": "string"},
}
MEDIA_TYPES = ("application/json", "application/vnd.contentapi.v1+json")
# The beginning of a description, by the value of `read` or `write` in `@type`
RULES = {
    "public": "Everybody may read them. What is not public requires",
    "member": "Requires a credential with",
    "staff": "Requires an editor's credential with",
    "author": "Authors write their own, editors all. Requires",
    "editor": "Requires an editor's credential with",
    "admin": "Requires an admin's credential with",
}


class Operation(NamedTuple):
    """An operation, a copy of the one with a `model`'s path and method that has texts and schemas of its own."""

    method: str
    summary: str
    operation_id: str
    model: tuple[str, str]
    body: str = ""
    shows: str = "{name}"

    def format(self, words: Mapping[str, str]) -> "Operation":
        """Return the operation with the words of a type."""
        texts = (text.format(**words) for text in (self.summary, self.operation_id, self.body, self.shows))
        summary, operation_id, body, shows = texts
        return Operation(self.method, summary, operation_id, self.model, body, shows)


OPERATIONS = {  # by the path below that of the type
    "": [
        Operation("get", "List {nouns}, newest first", "list{plural}", (LIST, "get"), shows="{name}Page"),
        Operation("post", "Create {named}", "create{name}", (LIST, "post"), "New{name}"),
    ],
    "/{id}": [
        Operation("get", "Read {named}", "get{name}", (ONE, "get")),
        Operation("patch", "Change {named}", "update{name}", (ONE, "patch"), "{name}Changes"),
        Operation("delete", "Delete {named}", "delete{name}", (ONE, "delete")),
    ],
}
ACTIONS = {
    f"/{{id}}/{verb}": [Operation("post", f"{verb.title()} {{named}}", f"{verb}{{name}}", (ONE, "patch"), VERSION_BODY)]
    for verb in ("publish", "unpublish")
}


def add_own_types(document: Schema) -> None:
    """Add what the document says of own types."""
    add_names(document)
    schemas = document["components"]["schemas"]
    for own in list_own_models():
        document["tags"].append({"name": own.path, "description": own.sdl.description or own.nouns[1]})
        document["paths"] |= build_paths(own, document["paths"])
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


# --- Paths ----------------------------------------------------------------------------------------------


def build_paths(own: OwnModel, paths: Schema) -> Schema:
    """Return the paths of a type."""
    plural = own.sdl.plural[0].upper() + own.sdl.plural[1:]
    words = {"name": own.sdl.name, "named": own.named, "nouns": own.nouns[1], "plural": plural}
    declared = OPERATIONS | (ACTIONS if own.sdl.has_publication else {})
    return {
        f"/{own.path}{suffix.replace('id', own.id_name)}": {
            "parameters": list_path_parameters(own, has_id=bool(suffix)),
            **{each.method: build_operation(own, each.format(words), paths) for each in operations},
        }
        for suffix, operations in declared.items()
    }


def list_path_parameters(own: OwnModel, *, has_id: bool) -> list[Schema]:
    described = {"name": own.id_name, "in": "path", "required": True, "description": f"The `id` of {own.named}."}
    own_id = {**described, "schema": refer("Id")}
    return [{"$ref": "#/components/parameters/ApiVersion"}, *([own_id] if has_id else [])]


def build_operation(own: OwnModel, operation: Operation, paths: Schema) -> Schema:
    """Return an operation with the texts, the schemas and the rule of a type, made of a copy of another one."""
    path, method = operation.model
    made: Schema = deepcopy(paths[path][method])
    made |= describe_texts(own, operation)
    if operation.shows != own.sdl.name:
        made["parameters"] += [describe_filter(field, name) for name, field in own.filters.items()]
    if operation.body:
        made["requestBody"] = describe_request(operation, made["requestBody"])
    made["responses"] |= describe_success(operation, made["responses"])
    return made


def describe_request(operation: Operation, model: Schema) -> Schema:
    kinds = model["content"] if operation.method == "patch" else MEDIA_TYPES[:1]
    content = {kind: {"schema": refer(operation.body)} for kind in kinds}
    return {"required": operation.body != VERSION_BODY, "content": content}


def describe_success(operation: Operation, model: Schema) -> Schema:
    """Return the response with an object, or a page; none for a deletion."""
    content = {kind: {"schema": refer(operation.shows)} for kind in MEDIA_TYPES}
    described = {"description": f"{operation.summary}.", "content": content}
    return {status: {"headers": model[status]["headers"], **described} for status in {"200", "201"} & model.keys()}


def describe_texts(own: OwnModel, operation: Operation) -> Schema:
    """Return the texts and the credentials of an operation."""
    is_read = operation.method == "get"
    scope = own.read_scope if is_read else Scope.POSTS_PUBLISH if operation.body == VERSION_BODY else own.write_scope
    anonymous: list[Schema] = [{}] if is_read and own.sdl.read == "public" else []
    security = [*anonymous, {"apiKey": []}, {"bearer": []}, {"oauth2": [scope.value]}]
    description = f"{RULES[own.sdl.read if is_read else own.sdl.write]} `{scope}`."
    texts = {"operationId": operation.operation_id, "tags": [own.path], "summary": operation.summary}
    return {**texts, "description": description, "security": security}


def describe_filter(field: OwnField, name: str) -> Schema:
    of_item = {"type": "string", "maxLength": field.max_length, "pattern": STORABLE}
    schema = of_item if field.is_list else describe_value(field)
    return {"name": name, "in": "query", "description": f"Only those with this {name}.", "schema": schema}


def refer(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


# --- Schemas --------------------------------------------------------------------------------------------


def build_schemas(own: OwnModel, schemas: Schema) -> Schema:
    """Return the schemas of the representation, of a page and of the bodies."""
    name = own.sdl.name
    page = deepcopy(schemas["WebhookPage"])
    page["description"] = f"A page of {own.nouns[1]}, by cursor or by offset."
    page["properties"]["data"]["items"] = refer(name)
    changes = describe_body(own, f"Changes of {own.named}.", is_new=False)
    changes["properties"] |= schemas[VERSION_BODY]["properties"]
    new = describe_body(own, f"A new {own.nouns[0]}.", is_new=True)
    return {name: describe_row(own), f"{name}Page": page, f"New{name}": new, f"{name}Changes": changes}


def describe_row(own: OwnModel) -> Schema:
    shown = next(each for app in load_apps() for each in app.representations if each.noun == own.nouns[0])
    return {"description": own.sdl.description, **describe_object(shown.kind, shown.selection)}


def describe_object(kind: Any, selection: Any) -> Schema:
    properties = {each.key: describe_output(kind.fields[each.name], each.selection) for each in selection}
    return {"type": "object", "required": [*properties], "properties": properties}


def describe_output(field: Any, selection: Any) -> Schema:
    schema = describe_type(get_nullable_type(field.type), selection)
    described = {"description": field.description or ""}
    return {**(schema if is_non_null_type(field.type) else add_null(schema)), **described}


def describe_type(kind: Any, selection: Any) -> Schema:
    if is_list_type(kind):
        return {"type": "array", "items": describe_type(get_nullable_type(kind.of_type), selection)}
    if is_composite_type(kind):
        return describe_object(kind, selection)
    return {"type": "string", "enum": [*kind.values]} if isinstance(kind, GraphQLEnumType) else dict(SCALARS[kind.name])


def add_null(schema: Schema) -> Schema:
    nullable = {**schema, "type": [schema["type"], "null"]}
    return {**nullable, "enum": [*schema["enum"], None]} if "enum" in schema else nullable


def describe_body(own: OwnModel, description: str, *, is_new: bool) -> Schema:
    """Return the schema of a body. A new row needs what is required, but for its author."""
    needed = [field.input_name for field in own.sdl.fields if is_new and field.is_required and field.name != AUTHOR]
    schema: Schema = {"description": description, "type": "object", "required": needed, "properties": {}}
    for field in own.sdl.fields:
        value = describe_value(field)
        value = value if field.is_required else add_null(value)
        schema["properties"][field.input_name] = {**value, "description": field.description}
    return {**schema, "additionalProperties": False}


def describe_value(field: OwnField) -> Schema:
    """Return the schema of a value of a field that is not null, with its limits."""
    item = describe_item(field)
    return {"type": "array", "maxItems": field.max_items, "items": item} if field.is_list else item


def describe_item(field: OwnField) -> Schema:
    if field.kind == Kind.ENUM:
        return {"type": "string", "enum": [*field.values]}
    item = dict(SCALARS[field.kind])
    if item == SCALARS["String"]:
        item["pattern"] = STORABLE
    longest = field.max_length if field.kind == Kind.TEXT else None
    limits = {"minimum": field.minimum, "maximum": field.maximum, "maxLength": longest}
    return item | {name: limit for name, limit in limits.items() if limit is not None}
