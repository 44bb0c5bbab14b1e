"""What the API has for each own type, made of its SDL and its model: an `App` like one that is written by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import or_
from typing import Any

from ariadne import MutationType, QueryType, SchemaBindable
from django.db.models import F, Q, QuerySet

from contentapi.core.identity import Actor
from contentapi.core.policy import ADMINS, EDITORIAL, STAFF
from contentapi.db.arrays import ContainsValue
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

LISTS = ("types", "projections", "representations", "bindables", "sidebar", "links")
DESK_ROLES = {"author": STAFF, "editor": EDITORIAL, "admin": ADMINS}


def add_own_types(apps: Sequence[App]) -> list[App]:
    """Return the apps with what their own types add."""
    types = {each.projection.name: each for app in apps for each in app.types}
    owners = next(each.owners for each in types.values() if each.owners)
    for own in (own for app in apps for own in app.own_types):
        own.types, own.owners = types, owners
    return [extend_app(app, [add_app(own, types) for own in app.own_types]) for app in apps]


def add_app(own: OwnModel, types: dict[str, Type]) -> App:
    """Return what one type adds, and add it to the types of all apps."""
    app = build_app(own)
    types[own.sdl.name] = app.types[0]
    return app


def extend_app(app: App, parts: Sequence[App]) -> App:
    if not parts:
        return app
    merged: dict[str, Any] = {
        name: [*getattr(app, name), *(each for part in parts for each in getattr(part, name))] for name in LISTS
    }
    resources = reduce(or_, (dict(part.resources) for part in parts), dict(app.resources))
    roles = {role for part in [app, *parts] for role in part.desk_roles}
    return replace(app, **merged, resources=resources, desk_roles=[*roles])


def build_app(own: OwnModel) -> App:
    """Return what one type adds to the API."""
    sdl = own.sdl
    projection = build_projection(own)
    connection = ConnectionType(projection)
    shown = Representation(projection, noun=own.nouns[0], version=VERSION)
    actions = [f"created updated {'published unpublished ' if sdl.has_publication else ''}deleted"]
    limit = partial(policy.limit_events, own) if own.rows else None
    events = EventSource(actions[0].split(), partial(policy.visible_events, own), shown, limit)
    node = selectors.build_node_selector(own)
    declared = Type(projection, node, events, partial(select_visible, own), uses=build_uses(own))
    changed = ("Create", "Update", *(("Publish", "Unpublish") if sdl.has_publication else ()))
    payloads = [Projection(f"{act}{sdl.name}Payload", own.model, {sdl.singular: SameRowAsType()}) for act in changed]
    return App(
        types=[declared],
        projections=[projection, connection, connection.edge, *payloads],
        representations=[shown],
        bindables=build_bindables(own),
        resources=build_resources(own, shown),
        sidebar=[Entry(own.nouns[1].capitalize(), "article", own.model._meta.label)],
        links=[own.path],
        desk_roles=DESK_ROLES[sdl.write],
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
    visible = partial(policy.visible_rows, own)
    return [
        Use(
            target,
            own.nouns,
            partial(select_referring, own, fields),
            partial(select_referring, own, [field for field in fields if field.is_required]),
            visible,
        )
        for target, fields in relations.items()
    ]


def select_referring(own: OwnModel, fields: Sequence[OwnField], pk: Any) -> QuerySet[Any]:
    """Return the rows that refer to an object by one of some fields. `pk` may be an expression."""
    conditions = [
        Q(ContainsValue(F(field.column), pk)) if field.is_list else Q(**{own.get_column(field): pk}) for field in fields
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
    mutation = {
        f"create{sdl.name}": pass_arguments(own.create or partial(services.create_row, model)),
        f"update{sdl.name}": pass_changes(own.update or partial(services.update_row, model), "row_id"),
        f"delete{sdl.name}": pass_arguments(partial(services.delete_row, model), "row_id", payload=deleted_id),
    }
    if sdl.has_publication:
        mutation[f"publish{sdl.name}"] = pass_arguments(partial(services.publish_row, model), "row_id")
        mutation[f"unpublish{sdl.name}"] = pass_arguments(partial(services.unpublish_row, model), "row_id")
    orders = {"createdAt": OLDEST_FIRST, "updatedAt": Ordering("updated_at")}
    if sdl.has_publication:
        orders["publishedAt"] = Ordering("publication_order")
    orders |= {field.name: Ordering(field.column) for field in sdl.fields if field.is_sortable}
    return [
        bind_fields(QueryType(), query),
        bind_fields(MutationType(), mutation),
        *build_sort(sdl.name, orders),
    ]
