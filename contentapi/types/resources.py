"""The REST resources of own types: a collection, its rows, and the actions `publish` and `unpublish`."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, cast

import msgspec
from msgspec import UNSET, Meta, UnsetType

from contentapi.http.response import Response, created, no_content
from contentapi.rest import Body, ExpectedVersionBody, Resource, ResourceRequest
from contentapi.rest.representations import Representation
from contentapi.types import selectors, services
from contentapi.types.declared import AUTHOR
from contentapi.types.fields import Kind, OwnField, convert_to_snake
from contentapi.types.models import OwnModel
from contentapi.types.own_bodies import TYPES

KINDS: dict[Kind, Any] = {
    **TYPES,
    Kind.INT: Annotated[float, Meta(multiple_of=1)],  # also 300.0, which JSON Schema calls an integer
    Kind.RELATION: str,
}
ACTIONS = {"publish": services.publish_row, "unpublish": services.unpublish_row}


def define_body(own: OwnModel, name: str, *, is_new: bool) -> type[Body]:
    """Return a body with the fields of a type. A new row needs those that are required."""
    members: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    names = {}
    for field in own.sdl.fields:
        parameter = field.input_column
        names[parameter] = field.input_name
        if is_new and field.is_required and field.name != AUTHOR:
            members.append((parameter, get_kind(field)))
        else:
            members.append((parameter, get_kind(field) | UnsetType | None, UNSET))
    if not is_new:
        members.append(("expected_version", str | None, None))
        names["expected_version"] = "expectedVersion"
    body = msgspec.defstruct(name, members, bases=(Body,), kw_only=True, module=__name__, rename=names)
    return cast("type[Body]", body)


def get_kind(field: OwnField) -> Any:
    kind: Any = Literal[field.values] if field.kind == Kind.ENUM else KINDS[field.kind]
    return list.__class_getitem__(kind) if field.is_list else kind


class OwnResource(Resource):
    own: ClassVar[OwnModel]
    body: ClassVar[type[Body]] = ExpectedVersionBody


class RowCollection(OwnResource):
    def get(self, request: ResourceRequest) -> Response:
        page = request.page(*self.own.filters)
        criteria = {convert_to_snake(name): value for name, value in page.filters.items()}
        return request.shown.page(
            selectors.select_rows(self.own, request.actor, criteria, page.after), page, request.actor
        )

    def post(self, request: ResourceRequest) -> Response:
        create = self.own.create or partial(services.create_row, self.own.model)
        values = request.body(self.body).provided()
        row, json = request.shown.create(request.actor, lambda: create(actor=request.actor, **values))
        return created(f"/{self.own.path}/{row.pk}", json)


class RowResource(OwnResource):
    def get(self, request: ResourceRequest, **ids: str) -> Response:
        return request.shown.one(selectors.select_row_by_id(self.own, request.actor, *ids.values()), request.actor)

    def patch(self, request: ResourceRequest, **ids: str) -> Response:
        update = self.own.update or partial(services.update_row, self.own.model)
        changes = request.body(self.body).provided()
        version = request.expected_version(changes.pop("expected_version"))
        (row_id,) = ids.values()
        row = update(actor=request.actor, row_id=row_id, changes=changes, expected_version=version)
        return request.shown.of(row, request.actor)

    def delete(self, request: ResourceRequest, **ids: str) -> Response:
        perform(services.delete_row, self.own, request, ids)
        return no_content()


class RowPublication(OwnResource):
    service: ClassVar[Callable[..., Any]]

    def post(self, request: ResourceRequest, **ids: str) -> Response:
        return request.shown.of(perform(type(self).service, self.own, request, ids), request.actor)


def perform(service: Callable[..., Any], own: OwnModel, request: ResourceRequest, ids: dict[str, str]) -> Any:
    """Call a service for the row of the path, with the version that the request expects."""
    version = request.expected_version(request.body_if_any(ExpectedVersionBody).expected_version)
    (row_id,) = ids.values()
    return service(own.model, actor=request.actor, row_id=row_id, expected_version=version)


def build_resources(own: OwnModel, shown: Representation) -> dict[str, type[Resource]]:
    """Return the classes of the paths of a type."""
    name = own.sdl.name
    row = f"{own.path}/<str:{own.id_name}>"
    new, changes = define_body(own, f"New{name}", is_new=True), define_body(own, f"{name}Changes", is_new=False)
    return {
        own.path: define_resource(own, shown, "Collection", RowCollection, body=new),
        row: define_resource(own, shown, "Resource", RowResource, body=changes),
        **(build_actions(own, shown, row) if own.sdl.has_publication else {}),
    }


def build_actions(own: OwnModel, shown: Representation, row: str) -> dict[str, type[Resource]]:
    return {
        f"{row}/{action}": define_resource(own, shown, action.title(), RowPublication, service=staticmethod(service))
        for action, service in ACTIONS.items()
    }


def define_resource(
    own: OwnModel, shown: Representation, suffix: str, base: type[Resource], **attributes: Any
) -> type[Resource]:
    is_private = own.sdl.read != "public"
    kind: Any = type(base)
    made = kind(f"{own.sdl.name}{suffix}", (base,), {"own": own, **attributes}, is_private=is_private, shows=shown)
    return cast("type[Resource]", made)
