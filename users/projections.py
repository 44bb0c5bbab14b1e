"""Projections of the viewer and of users: how each field of the SDL is read."""

from django.contrib.postgres.fields import ArrayField
from django.db.models import CharField, Expression, FloatField, Value
from django.db.models.functions import Cast

from contentapi.conf import conf
from contentapi.core.identity import Actor, Role, Scope
from contentapi.core.policy import require_permission
from contentapi.projection import Computed, Connection, ConnectionType, Projection, RelayType, SameRowAsType, ToOne
from users.models import User
from users.storage import build_image_bytes

ROLE = CharField(choices=[(role.value, role.value) for role in Role])
SCOPES = ArrayField(CharField())


def build_credential_role(actor: Actor) -> Expression:
    """Return the role of the credential, which decides even if the user has got another role since."""
    return Cast(Value(actor.role and actor.role.value), ROLE)


def require_list_of_orders(actor: Actor) -> None:
    """Raise `Forbidden` unless the actor may list orders. The viewer of an anonymous actor is null, with its orders."""
    require_permission(actor, actor.is_anonymous or actor.has(Scope.ORDERS_READ), "list orders")


VIEWER = Projection(
    "Viewer",
    User,
    {
        "user": SameRowAsType(),
        "role": Computed(build_credential_role),
        "scopes": Computed(lambda actor: Cast(Value(sorted(filter(actor.has, Scope))), SCOPES)),
        "author": ToOne("author"),
        "orders": Connection("orders", require=require_list_of_orders),
        "imageBytes": Computed(build_image_bytes),
        "imageQuota": Computed(lambda _: Cast(Value(conf.environment.contentapi_image_quota), FloatField())),
    },
)

USER = Projection(
    "User",
    User,
    {
        "author": ToOne("author"),
    },
)

USER_CONNECTION = ConnectionType(USER)
CREATE_USER_PAYLOAD = Projection("CreateUserPayload", User, {"user": SameRowAsType()})

PROJECTIONS: list[Projection | RelayType] = [
    *(USER, USER_CONNECTION, USER_CONNECTION.edge),
    *(VIEWER, CREATE_USER_PAYLOAD),
]
