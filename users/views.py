"""Resource-oriented HTTP's way to users. Each method: what is asked for, and what is answered."""

import msgspec
from django.db.models import QuerySet

from contentapi.core.entity_tags import UNCHANGING, Rendered, tagged
from contentapi.core.pagination import paged
from contentapi.http.response import Answer, created, no_content, ok
from contentapi.rest import Asked, Body, Resource
from users import selectors, services
from users.models import User


class NewUser(Body):
    """What is missing is empty, and so against a rule: 422, not 400, as the specification has it for users."""

    name: str = ""
    email: str = ""


class UserRepresentation(msgspec.Struct):
    id: int
    name: str
    email: str


def represented(user: User) -> bytes:
    return msgspec.json.encode(UserRepresentation(user.pk, user.name, user.email))


def each(users: QuerySet[User]) -> list[bytes]:
    return [represented(user) for user in users]


def one(user: User) -> Rendered:
    return tagged(represented(user), UNCHANGING)


class UserCollection(Resource):
    def get(self, asked: Asked) -> Answer:
        page = asked.page()
        return ok(paged(selectors.users_after(asked.actor, page.after), page, each))

    def post(self, asked: Asked) -> Answer:
        user = services.create_user(actor=asked.actor, **asked.body(NewUser).given())
        return created(f"/users/{user.pk}", one(user))


class UserResource(Resource):
    def get(self, asked: Asked, user_id: str) -> Answer:
        return ok(one(selectors.get_user(asked.actor, user_id)))

    def delete(self, asked: Asked, user_id: str) -> Answer:
        services.delete_user(actor=asked.actor, user_id=user_id, expected_version=asked.expected_version())
        return no_content()
