"""REST resources of users. Each method reads the request and calls one selector or service."""

import msgspec

from contentapi.http.response import Response, created, no_content
from contentapi.rest import Body, Resource, ResourceRequest
from contentapi.rest.representations import Representation
from users import projections, selectors, services


class NewUser(Body):
    """A missing field, and one that is null, is empty: the specification requires 422 for it, not 400."""

    name: str | None = None
    email: str | None = None


def represent_user(user: bytes) -> bytes:
    members = msgspec.json.decode(user, type=dict[str, msgspec.Raw])
    return msgspec.json.encode({**members, "id": int(msgspec.json.decode(members["id"]))})


USER = Representation(projections.USER, represent=represent_user)


class UserCollection(Resource, is_private=True, shows=USER):
    def get(self, request: ResourceRequest) -> Response:
        page = request.page()
        return request.shown.page(selectors.select_users(request.actor, page.after), page, request.actor)

    def post(self, request: ResourceRequest) -> Response:
        body = request.body(NewUser)
        user = services.create_user(actor=request.actor, name=body.name or "", email=body.email or "")
        return created(f"/users/{user.pk}", request.shown.of(user, request.actor))


class UserResource(Resource, is_private=True, shows=USER):
    def get(self, request: ResourceRequest, user_id: str) -> Response:
        return request.shown.one(selectors.select_user_by_id(request.actor, user_id), request.actor)

    def delete(self, request: ResourceRequest, user_id: str) -> Response:
        services.delete_user(actor=request.actor, user_id=user_id, expected_version=request.expected_version())
        return no_content()
