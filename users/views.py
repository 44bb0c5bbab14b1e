"""REST resources of users. Each method reads the request and calls one selector or service."""

import msgspec

from contentapi.core.entity_tags import UNCHANGING
from contentapi.http.response import Response, build_tagged_response, created, no_content
from contentapi.rest import Body, Resource, ResourceRequest
from contentapi.rest.pages import render_page
from users import selectors, services
from users.models import User


class NewUser(Body):
    """A missing field, and one that is null, is empty: the specification requires 422 for it, not 400."""

    name: str | None = None
    email: str | None = None


class UserRepresentation(msgspec.Struct):
    id: int
    name: str
    email: str


def represent_user(user: bytes, _: str) -> bytes:
    found = msgspec.json.decode(user)
    return msgspec.json.encode(UserRepresentation(int(found["id"]), found["name"], found["email"]))


def render_user(user: User) -> bytes:
    return msgspec.json.encode(UserRepresentation(user.pk, user.name, user.email))


def render_user_with_etag(user: User) -> Response:
    return build_tagged_response(render_user(user), UNCHANGING)


class UserCollection(Resource, is_private=True):
    def get(self, request: ResourceRequest) -> Response:
        page = request.page()
        users = selectors.select_users(request.actor, page.after)
        return render_page(users, page, lambda found: [*map(render_user, found)])

    def post(self, request: ResourceRequest) -> Response:
        body = request.body(NewUser)
        user = services.create_user(actor=request.actor, name=body.name or "", email=body.email or "")
        return created(f"/users/{user.pk}", render_user_with_etag(user))


class UserResource(Resource, is_private=True):
    def get(self, request: ResourceRequest, user_id: str) -> Response:
        return render_user_with_etag(selectors.get_user(request.actor, user_id))

    def delete(self, request: ResourceRequest, user_id: str) -> Response:
        services.delete_user(actor=request.actor, user_id=user_id, expected_version=request.expected_version())
        return no_content()
