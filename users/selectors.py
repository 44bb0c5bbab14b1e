"""Reads of users: which ones an actor may see."""

from collections.abc import Collection

from django.db.models import QuerySet
from django.utils import timezone

from contentapi.core.errors import NotFound, require_row
from contentapi.core.identity import Actor
from contentapi.core.pagination import Position, parse_id
from contentapi.core.policy import require_permission
from contentapi.core.unicode import is_storable
from contentapi.projection import OLDEST_FIRST, Ordering, Rows, paginate, parametrised
from users import policy
from users.models import ApiKey, User

USER_SORT_FIELDS = {"name": Ordering("name"), "createdAt": OLDEST_FIRST}


def select_users(actor: Actor, after: Position | None = None) -> Rows[User]:
    """Return users, oldest first, from after a position. Raises `Unauthenticated` and `Forbidden`."""
    require_permission(actor, policy.may_read_users(actor), "list users")
    return select_visible_users(actor, after_pk=after and after.id)


select_users_page = paginate("users", select_users, OLDEST_FIRST)


@parametrised(User)
def select_visible_users(actor: Actor, *, after_pk: int | None = None) -> QuerySet[User]:
    users = User.objects.filter(policy.visible_users(actor)).order_by("id")
    return users if after_pk is None else users.filter(pk__gt=after_pk)


def select_user_by_id(actor: Actor, user_id: str) -> Rows[User]:
    """Return the user with this id, or no user. Raises `Unauthenticated` and `Forbidden`, whatever the id."""
    require_permission(actor, policy.may_read_users(actor), "read users")
    return select_user_node(actor, user_id)


@parametrised(User, pk=parse_id)
def select_user_node(actor: Actor, *, pk: int) -> QuerySet[User]:
    """Return the user with this id, or no user. `node` gets the ids of all types, so no permission is required."""
    return User.objects.filter(policy.visible_users(actor), pk=pk)


def get_user(actor: Actor, user_id: str) -> User:
    """Return the user with this id. Raises `Unauthenticated`, `Forbidden` and `NotFound`."""
    return require_row(select_user_by_id(actor, user_id).queryset(), "user")


@parametrised(User)
def select_viewer(actor: Actor) -> QuerySet[User]:
    """Return the actor's user; no row for an anonymous actor, or if the user has been deleted."""
    return User.objects.none() if actor.user_id is None else User.objects.filter(pk=actor.user_id)


def select_api_keys(actor: Actor) -> QuerySet[ApiKey]:
    """Return the API keys that the actor may manage."""
    return ApiKey.objects.filter(policy.visible_api_keys(actor))


def find_api_key(actor: Actor, prefix: str) -> ApiKey | None:
    """Return the API key with this prefix, if the actor may manage it."""
    return select_api_keys(actor).filter(prefix=prefix).first() if is_storable(prefix) else None


def get_api_key(actor: Actor, prefix: str) -> ApiKey:
    """Return the API key with this prefix. Raises `NotFound`."""
    key = find_api_key(actor, prefix)
    if key is None:
        raise NotFound("There is no API key with this prefix.")
    return key


def filter_keys_by_state(keys: QuerySet[ApiKey], state: str) -> QuerySet[ApiKey]:
    """Return the keys in a state that `ApiKey.get_state` knows; all keys for any other text."""
    now = timezone.now()
    match state:
        case "valid":
            return keys.filter(revoked_at=None, expires_at__gt=now)
        case "expired":
            return keys.filter(revoked_at=None, expires_at__lte=now)
        case "revoked":
            return keys.exclude(revoked_at=None)
    return keys


def count_api_keys(users: Collection[User]) -> int:
    return ApiKey.objects.filter(user__in=users).count()
