"""What the API has for each own type, made of its SDL and its model: an `App` like one that is written by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import or_
from typing import Any

from ariadne import MutationType, QueryType, SchemaBindable
from django.db.models import Q, QuerySet

from contentapi.core.identity import WRITERS, Actor
from contentapi.events.declarations import App, Entry, EventSource, Type, Use
from contentapi.graphql.root_fields import bind_fields, pass_arguments, pass_changes, pass_id
from contentapi.graphql.sorting import build_sort
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
from contentapi.rest.representations import VERSION, Representation
from contentapi.types import policy, selectors, services
from contentapi.types.fields import Kind, OwnField, convert_to_snake
from contentapi.types.models import OwnModel
from contentapi.types.resources import build_resources

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
    """Return what one type adds to the API."""
    sdl = own.sdl
    projection = build_projection(own)
    connection = ConnectionType(projection)
    shown = Representation(projection, noun=sdl.noun, version=VERSION)
    publication = ["published", "unpublished"] if sdl.has_publication else []
    limit = partial(policy.limit_events, own) if own.rows else None
    events = EventSource(
        ["created", "updated", *publication, "deleted"], partial(policy.visible_events, own), shown, limit
    )
    node = selectors.build_node_selector(own)
    declared = Type(projection, node, events, partial(select_visible, own), uses=build_uses(own))
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


def build_projection(own: OwnModel) -> Projection:
    """Return the projection of a type: plain columns, and relations to rows that the actor may see."""
    fields: Mapping[str, ProjectedField | str] = {field.name: build_field(own, field) for field in own.sdl.fields}
    return Projection(own.sdl.name, own.model, fields)


def build_field(own: OwnModel, field: OwnField) -> ProjectedField | str:
    if field.kind != Kind.RELATION:
        return field.column

    def select_related(rows: QuerySet[Any], actor: Actor) -> QuerySet[Any]:
        return own.types[field.type_name].related(rows, actor)

    if field.is_list:
        return Listed(field.column, select_related)
    # The required relations of a visible row are visible too: see `OwnModel.guarded`.
    return ToOne(field.column, None if field.is_required else select_related)


def select_visible(own: OwnModel, rows: QuerySet[Any], actor: Actor) -> QuerySet[Any]:
    return rows.filter(policy.visible_rows(own, actor))


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
        Q(**({f"{field.column}__contains": [pk]} if field.is_list else {own.get_column(field): pk})) for field in fields
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
        "create": pass_arguments(own.create or partial(services.create_row, model)),
        "update": pass_changes(own.update or partial(services.update_row, model), "row_id"),
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
