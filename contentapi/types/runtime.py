"""What the API has for each own type, made of its SDL and its model: an `App` like one that is written by hand."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import or_
from typing import Any, ClassVar, cast

import msgspec
from ariadne import MutationType, QueryType, SchemaBindable
from django.db.models import Q, QuerySet

from contentapi.core.identity import WRITERS, Actor
from contentapi.events.declarations import App, Entry, EventSource, Type, Use
from contentapi.graphql.root_fields import bind_fields, build_sort, pass_arguments, pass_changes, pass_id
from contentapi.http.response import Response, created, no_content
from contentapi.projection import (
    OLDEST_FIRST,
    ConnectionType,
    Listed,
    Ordering,
    Projection,
    SameRowAsType,
    ToOne,
)
from contentapi.projection.fields import ProjectedField
from contentapi.rest import Body, ExpectedVersionBody, Resource, ResourceRequest
from contentapi.rest.representations import VERSION, Representation
from contentapi.types import policy, selectors, services
from contentapi.types.bodies import list_body_fields
from contentapi.types.differences import require_known_members
from contentapi.types.fields import Kind, OwnField, convert_to_snake
from contentapi.types.models import OwnModel

ACTIONS = {"publish": services.publish_row, "unpublish": services.unpublish_row}
LISTS = ("types", "projections", "representations", "bindables", "sidebar", "links", "desk_roles")


def add_own_types(apps: Sequence[App]) -> list[App]:
    """Return the apps with what their own types add."""
    types = {each.projection.name: each for app in apps for each in app.types}
    owners = next(each.owners for each in types.values() if each.owners)
    extended = []
    for app in apps:
        parts = []
        for own in app.own_types:
            own.types, own.owners = types, owners  # `types` has those of all apps in the end
            parts.append(part := build_app(own))
            types[own.sdl.name] = part.types[0]
        extended.append(reduce(extend_app, parts, app))
    return extended


def extend_app(app: App, part: App) -> App:
    """Return an app with what one of its types adds."""
    merged: dict[str, Any] = {name: [*getattr(app, name), *getattr(part, name)] for name in LISTS}
    return replace(app, **merged, resources={**app.resources, **part.resources})


def build_app(own: OwnModel) -> App:
    """Return what one type adds to the API. Raises `SdlError` for a member of an input that no write knows."""
    sdl = own.sdl
    defaults = [verb for verb, rule in (("Create", own.create), ("Update", own.update)) if rule is None]
    require_known_members(sdl, *(f"{verb}{sdl.name}Input" for verb in defaults), f"{sdl.name}SortField")
    projection = Projection(sdl.name, own.model, {field.name: build_field(own, field) for field in sdl.fields})
    connection = ConnectionType(projection)
    shown = Representation(projection, noun=sdl.noun, version=VERSION)
    publication = ["published", "unpublished"] if sdl.has_publication else []
    limit = partial(policy.limit_events, own) if own.rows else None
    events = EventSource(
        ["created", "updated", *publication, "deleted"], partial(policy.visible_events, own), shown, limit
    )
    node = selectors.build_node_selector(own)
    declared = Type(
        projection,
        node,
        events,
        related=lambda rows, actor: rows.filter(policy.visible_rows(own, actor)),
        uses=build_uses(own),
    )
    payloads = [
        Projection(f"{verb.capitalize()}{sdl.name}Payload", own.model, {sdl.singular: SameRowAsType()})
        for verb in sdl.verbs
        if verb != "delete"
    ]
    return App(
        types=[declared],
        projections=[projection, connection, connection.edge, *payloads],
        representations=[shown],
        bindables=build_bindables(own),
        resources=build_resources(own, shown),
        sidebar=[Entry(sdl.nouns.capitalize(), "article", own.model._meta.label)],
        links=[sdl.path],
        desk_roles=WRITERS[sdl.write],
    )


def build_field(own: OwnModel, field: OwnField) -> ProjectedField | str:
    """Return what a projection has for a field: a plain column, or a relation to rows that the actor may see."""
    if field.kind != Kind.RELATION:
        return field.column

    def select_related(rows: QuerySet[Any], actor: Actor) -> QuerySet[Any]:
        return own.types[field.type_name].related(rows, actor)

    if field.is_list:
        return Listed(field.column, select_related)
    # The required relations of a visible row are visible too: see `OwnModel.guarded`.
    return ToOne(field.column, None if field.is_required else select_related)


def build_uses(own: OwnModel) -> list[Use]:
    """Return a use for each type that the relations of a type lead to."""
    relations: dict[str, list[OwnField]] = {}
    for field in own.sdl.relations:
        relations.setdefault(field.type_name, []).append(field)
    nouns, visible = (own.sdl.noun, own.sdl.nouns), partial(policy.visible_rows, own)
    select = partial(partial, select_referring, own)
    return [
        Use(target, nouns, select(fields), select([each for each in fields if each.is_required]), visible)
        for target, fields in relations.items()
    ]


def select_referring(own: OwnModel, fields: Sequence[OwnField], pk: Any) -> QuerySet[Any]:
    """Return the rows that refer to an object by one of some fields. `pk` may be an expression."""
    conditions = [
        Q(**({f"{field.column}__contains": [pk]} if field.is_list else {field.input_column: pk})) for field in fields
    ]
    return own.model._base_manager.filter(reduce(or_, conditions, Q(pk__in=())))


def build_bindables(own: OwnModel) -> list[SchemaBindable]:
    """Return the resolvers of the root fields, and the orders."""
    sdl, model = own.sdl, own.model
    query = {
        sdl.singular: pass_id(partial(selectors.select_row_by_id, own)),
        sdl.plural: pass_arguments(partial(selectors.build_connection, own)),
    }
    deleted_id = convert_to_snake(f"deleted{sdl.name}Id")
    resolvers = {
        "create": pass_arguments(services.get_create(own)),
        "update": pass_changes(services.get_update(own), "row_id"),
        "delete": pass_arguments(partial(services.delete_row, model), "row_id", payload=deleted_id),
        "publish": pass_arguments(partial(services.publish_row, model), "row_id"),
        "unpublish": pass_arguments(partial(services.unpublish_row, model), "row_id"),
    }
    orders = {name: Ordering(column) for name, column in sdl.orders.items()}
    return [
        bind_fields(QueryType(), query),
        bind_fields(MutationType(), {f"{verb}{sdl.name}": resolvers[verb] for verb in sdl.verbs}),
        *build_sort(sdl.name, orders | {"createdAt": OLDEST_FIRST}),
    ]


# --- REST -------------------------------------------------------------------------------------------------


def define_body(own: OwnModel, name: str, *, is_new: bool) -> type[Body]:
    """Return a body with the fields of a type. A new row needs those that are required."""
    base = Body if is_new else ExpectedVersionBody
    fields = list_body_fields({field.input_column: field for field in own.sdl.fields}, is_new=is_new)
    return cast("type[Body]", msgspec.defstruct(name, fields, bases=(base,), kw_only=True, module=__name__))


class OwnResource(Resource):
    own: ClassVar[OwnModel]
    body: ClassVar[type[Body]] = ExpectedVersionBody

    def perform(self, service: Callable[..., Any], request: ResourceRequest, ids: dict[str, str]) -> Any:
        """Call a service for the row of the path, with the version that the request expects."""
        version = request.expected_version(request.body_if_any(ExpectedVersionBody).expected_version)
        (row_id,) = ids.values()
        return service(self.own.model, actor=request.actor, row_id=row_id, expected_version=version)


class RowCollection(OwnResource):
    def get(self, request: ResourceRequest) -> Response:
        page = request.page(*self.own.sdl.filters)
        rows = selectors.select_rows(self.own, request.actor, page.filters, page.after)
        return request.shown.page(rows, page, request.actor)

    def post(self, request: ResourceRequest) -> Response:
        create = services.get_create(self.own)
        values = request.body(self.body).provided()
        row, json = request.shown.create(request.actor, lambda: create(actor=request.actor, **values))
        return created(f"/{self.own.sdl.path}/{row.pk}", json)


class RowResource(OwnResource):
    def get(self, request: ResourceRequest, **ids: str) -> Response:
        return request.shown.one(selectors.select_row_by_id(self.own, request.actor, *ids.values()), request.actor)

    def patch(self, request: ResourceRequest, **ids: str) -> Response:
        update = services.get_update(self.own)
        changes = request.body(self.body).provided()
        version = request.expected_version(changes.pop("expected_version"))
        (row_id,) = ids.values()
        row = update(actor=request.actor, row_id=row_id, changes=changes, expected_version=version)
        return request.shown.of(row, request.actor)

    def delete(self, request: ResourceRequest, **ids: str) -> Response:
        self.perform(services.delete_row, request, ids)
        return no_content()


class RowPublication(OwnResource):
    service: ClassVar[Callable[..., Any]]

    def post(self, request: ResourceRequest, **ids: str) -> Response:
        return request.shown.of(self.perform(type(self).service, request, ids), request.actor)


def build_resources(own: OwnModel, shown: Representation) -> dict[str, type[Resource]]:
    """Return the classes of the paths of a type."""
    name, define = own.sdl.name, partial(define_resource, own, shown)
    row = f"{own.sdl.path}/<str:{own.sdl.snake}_id>"
    actions = ACTIONS if own.sdl.has_publication else {}
    return {
        own.sdl.path: define("Collection", RowCollection, body=define_body(own, f"New{name}", is_new=True)),
        row: define("Resource", RowResource, body=define_body(own, f"{name}Changes", is_new=False)),
        **{
            f"{row}/{action}": define(action.title(), RowPublication, service=staticmethod(service))
            for action, service in actions.items()
        },
    }


def define_resource(
    own: OwnModel, shown: Representation, suffix: str, base: type[Resource], **attributes: Any
) -> type[Resource]:
    is_private = own.sdl.read != "public"
    kind: Any = type(base)
    made = kind(f"{own.sdl.name}{suffix}", (base,), {"own": own, **attributes}, is_private=is_private, shows=shown)
    return cast("type[Resource]", made)
