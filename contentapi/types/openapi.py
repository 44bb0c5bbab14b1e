"""What own fields and own types add to the OpenAPI document. Operations of own types are like those of webhooks."""

from collections.abc import Iterable
from copy import deepcopy
from typing import Any, NamedTuple

from graphql import GraphQLEnumType, get_nullable_type, is_composite_type, is_list_type, is_non_null_type

from contentapi.core.identity import Scope
from contentapi.events.declarations import load_apps
from contentapi.events.sources import get_event_types
from contentapi.types.bodies import Schema, add_null, describe_enums, describe_filter, describe_member, refer
from contentapi.types.fields import SCALARS, TRAITS, OwnType
from contentapi.types.models import OwnModel, list_own_models
from contentapi.types.own_fields import DECLARED, OwnFields

LIST, ONE = "/webhooks", "/webhooks/{webhook_id}"  # the paths whose operations are copied
VERSION_BODY = "ExpectedVersionBody"
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
    """An operation: a copy of the one with a `model`'s path and method, with texts and schemas of its own."""

    suffix: str  # of the path
    method: str
    summary: str
    name: str  # `operationId`
    model: tuple[str, str]
    body: str = ""

    @property
    def is_list(self) -> bool:
        return self.model == (LIST, "get")


OPERATIONS = [
    Operation("", "get", "List {own.nouns}, newest first", "list{own.plural_name}", (LIST, "get")),
    Operation("", "post", "Create {own.a_noun}", "create{own.name}", (LIST, "post"), "New{own.name}"),
    Operation("/{id}", "get", "Read {own.a_noun}", "get{own.name}", (ONE, "get")),
    Operation("/{id}", "patch", "Change {own.a_noun}", "update{own.name}", (ONE, "patch"), "{own.name}Changes"),
    Operation("/{id}", "delete", "Delete {own.a_noun}", "delete{own.name}", (ONE, "delete")),
]
PUBLICATION = [
    Operation("/{id}/publish", "post", "Publish {own.a_noun}", "publish{own.name}", (ONE, "patch"), VERSION_BODY),
    Operation("/{id}/unpublish", "post", "Unpublish {own.a_noun}", "unpublish{own.name}", (ONE, "patch"), VERSION_BODY),
]


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


# --- Own types: paths -----------------------------------------------------------------------------------


def add_own_types(document: Schema) -> None:
    """Add what the document says of own types."""
    add_names(document)
    schemas, paths = document["components"]["schemas"], document["paths"]
    for own in list_own_models():
        document["tags"].append({"name": own.sdl.path, "description": own.sdl.description or own.sdl.nouns})
        add_paths(own, paths)
        schemas |= build_schemas(own, schemas)


def add_paths(own: OwnModel, paths: Schema) -> None:
    for operation in [*OPERATIONS, *(PUBLICATION if own.sdl.has_publication else [])]:
        path = paths.setdefault(f"/{own.sdl.path}{operation.suffix.replace('id', own.id_name)}", {})
        path["parameters"] = list_path_parameters(own, has_id=bool(operation.suffix))
        path[operation.method] = build_operation(own, operation, paths)


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


def list_path_parameters(own: OwnModel, *, has_id: bool) -> list[Schema]:
    described = {"name": own.id_name, "in": "path", "required": True, "description": f"The `id` of {own.sdl.a_noun}."}
    own_id = {**described, "schema": refer("Id")}
    return [{"$ref": "#/components/parameters/ApiVersion"}, *([own_id] if has_id else [])]


def build_operation(own: OwnModel, operation: Operation, paths: Schema) -> Schema:
    """Return an operation with the texts, the schemas and the rule of a type, made of a copy of another one."""
    path, method = operation.model
    made: Schema = deepcopy(paths[path][method])
    texts = (operation.name, operation.summary, operation.body)
    name, summary, body = (text.format(own=own.sdl) for text in texts)
    made |= {
        "operationId": name,
        "tags": [own.sdl.path],
        "summary": summary,
    }
    made |= describe_access(own, operation)
    if operation.is_list:
        made["parameters"] += [describe_filter(name, field) for name, field in own.sdl.filters.items()]
    if body:
        made["requestBody"] = describe_request(body, made["requestBody"], operation)
    shown = describe_content(f"{own.sdl.name}{'Page' * operation.is_list}", MEDIA_TYPES)
    for status in {"200", "201"} & made["responses"].keys():
        kept = {"headers": made["responses"][status]["headers"]}
        made["responses"][status] = {"description": f"{summary}.", "content": shown, **kept}
    return made


def describe_request(body: str, model: Schema, operation: Operation) -> Schema:
    kinds = model["content"] if operation.method == "patch" else MEDIA_TYPES[:1]
    return {"required": body != VERSION_BODY, "content": describe_content(body, kinds)}


def describe_content(name: str, kinds: Iterable[str]) -> Schema:
    return {kind: {"schema": refer(name)} for kind in kinds}


def describe_access(own: OwnModel, operation: Operation) -> Schema:
    """Return the description of who may call an operation, and the credentials."""
    is_read = operation.method == "get"
    scope = own.read_scope if is_read else Scope.POSTS_PUBLISH if operation.body == VERSION_BODY else own.write_scope
    anonymous: list[Schema] = [{}] if is_read and own.sdl.read == "public" else []
    security = [*anonymous, {"apiKey": []}, {"bearer": []}, {"oauth2": [scope.value]}]
    return {"description": f"{RULES[own.sdl.read if is_read else own.sdl.write]} `{scope}`.", "security": security}


# --- Own types: schemas ---------------------------------------------------------------------------------


def build_schemas(own: OwnModel, schemas: Schema) -> Schema:
    """Return the schemas of the representation, of a page, of the bodies and of the enums."""
    sdl = own.sdl
    shown = next(each for app in load_apps() for each in app.representations if each.noun == sdl.noun)
    page = deepcopy(schemas["WebhookPage"])
    page["description"] = f"A page of {sdl.nouns}, by cursor or by offset."
    page["properties"]["data"]["items"] = refer(sdl.name)
    new = describe_body(sdl, f"A new {sdl.noun}.")
    new["required"] = [field.input_name for field in sdl.fields if field.is_needed]
    changes = describe_body(sdl, f"Changes of {sdl.a_noun}.")
    changes["properties"] |= schemas[VERSION_BODY]["properties"]
    return {
        sdl.name: {"description": sdl.description, **describe_object(shown.kind, shown.selection)},
        f"{sdl.name}Page": page,
        f"New{sdl.name}": new,
        f"{sdl.name}Changes": changes,
        **describe_enums({field.name: field for field in sdl.fields}),
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
    return dict(TRAITS[SCALARS[kind.name]].schema) if kind.name in SCALARS else {"type": "string"}
