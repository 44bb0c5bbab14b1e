"""The REST resources of own types: a collection, its rows, and the actions `publish` and `unpublish`."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, cast

import msgspec

from contentapi.http.response import Response, created, no_content
from contentapi.rest import Body, ExpectedVersionBody, Resource, ResourceRequest
from contentapi.rest.representations import Representation
from contentapi.types import selectors, services
from contentapi.types.bodies import list_body_fields
from contentapi.types.fields import convert_to_snake
from contentapi.types.models import OwnModel

ACTIONS = {"publish": services.publish_row, "unpublish": services.unpublish_row}


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
        criteria = {convert_to_snake(name): value for name, value in page.filters.items()}
        rows = selectors.select_rows(self.own, request.actor, criteria, page.after)
        return request.shown.page(rows, page, request.actor)

    def post(self, request: ResourceRequest) -> Response:
        create = self.own.create or partial(services.create_row, self.own.model)
        values = request.body(self.body).provided()
        row, json = request.shown.create(request.actor, lambda: create(actor=request.actor, **values))
        return created(f"/{self.own.sdl.path}/{row.pk}", json)


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
        self.perform(services.delete_row, request, ids)
        return no_content()


class RowPublication(OwnResource):
    service: ClassVar[Callable[..., Any]]

    def post(self, request: ResourceRequest, **ids: str) -> Response:
        return request.shown.of(self.perform(type(self).service, request, ids), request.actor)


def build_resources(own: OwnModel, shown: Representation) -> dict[str, type[Resource]]:
    """Return the classes of the paths of a type."""
    name, define = own.sdl.name, partial(define_resource, own, shown)
    row = f"{own.sdl.path}/<str:{own.sdl.id_name}>"
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
