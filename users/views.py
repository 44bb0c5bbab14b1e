"""REST resources of users. Each method reads the request and calls one selector or service."""

import msgspec
from django.db.models import QuerySet

from contentapi.core.entity_tags import UNCHANGING, Rendered, with_etag
from contentapi.core.pagination import render_page
from contentapi.http.response import Answer, created, no_content, ok
from contentapi.rest import Body, Resource, ResourceRequest
from users import selectors, services
from users.models import User


class NewUser(Body):
    """A missing field is empty: the specification requires 422 for it, not 400."""

    name: str = ""
    email: str = ""


class UserRepresentation(msgspec.Struct):
    id: int
    name: str
    email: str


def render_user(user: User) -> bytes:
    return msgspec.json.encode(UserRepresentation(user.pk, user.name, user.email))


def render_users(users: QuerySet[User]) -> list[bytes]:
    return [render_user(user) for user in users]


def render_tagged_user(user: User) -> Rendered:
    return with_etag(render_user(user), UNCHANGING)


class UserCollection(Resource):
    def get(self, asked: ResourceRequest) -> Answer:
        page = asked.page()
        return ok(render_page(selectors.select_users_after(asked.actor, page.after), page, render_users))

    def post(self, asked: ResourceRequest) -> Answer:
        user = services.create_user(actor=asked.actor, **asked.body(NewUser).provided())
        return created(f"/users/{user.pk}", render_tagged_user(user))


class UserResource(Resource):
    def get(self, asked: ResourceRequest, user_id: str) -> Answer:
        return ok(render_tagged_user(selectors.get_user(asked.actor, user_id)))

    def delete(self, asked: ResourceRequest, user_id: str) -> Answer:
        services.delete_user(actor=asked.actor, user_id=user_id, expected_version=asked.expected_version())
        return no_content()
