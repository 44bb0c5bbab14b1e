"""Who is asking: turns the credential of a request into an `Actor`."""

import hmac
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from django.db.models import Q
from django.utils import timezone

from contentapi.errors import Malformed, Unauthenticated
from contentapi.identity import ANONYMOUS, ROLE_SCOPES, Actor, Role, Scope
from contentapi.projection import PreparedQuery
from users.models import ApiKey
from users.services import digest

API_KEY = re.compile(r"(?P<prefix>capi_[0-9a-f]{8})_[0-9a-f]{64}")


def authenticate(headers: Mapping[str, str]) -> Actor:
    """Return the actor behind a request; anonymous only when it presents no credential.

    Raises `Unauthenticated` for a credential that is not good, `Malformed` for two. Costs at most one indexed read.
    """
    key, authorization = headers.get("X-API-Key"), headers.get("Authorization")
    if key is not None and authorization is not None:
        raise Malformed("Send one credential: X-API-Key or Authorization, not both.")
    if key is not None:
        return from_api_key(key)
    if authorization is not None:
        raise Unauthenticated("This bearer token is not valid.")
    return ANONYMOUS


class KeyRow(msgspec.Struct):
    """What an API key says of its user. The digest is written as PostgreSQL writes bytes: \\x, then hexadecimal."""

    id: int
    digest: str
    last_used_at: datetime | None
    scopes: frozenset[Scope]
    user_id: int
    role: Role


USABLE_KEY = PreparedQuery(
    KeyRow,
    lambda given: ApiKey.objects.usable(given("now")).filter(prefix=given("prefix")),
    {"role": "user__role"},
)


def from_api_key(key: str) -> Actor:
    match = API_KEY.fullmatch(key)
    now = timezone.now()
    row = USABLE_KEY.first(prefix=match["prefix"], now=now) if match else None
    if row is None or not hmac.compare_digest(row.digest, f"\\x{digest(key).hex()}"):
        raise Unauthenticated("The API key is unknown, expired or revoked.")
    keep_last_use(row.id, row.last_used_at, now)
    return Actor(
        user_id=row.user_id,
        role=row.role,
        scopes=row.scopes,
        credential="api-key",
    )


def from_session(user: Any) -> Actor:
    """Return the actor behind a request to the admin site, which has let `user` in."""
    return Actor(
        user_id=user.pk,
        role=Role(user.role),
        scopes=ROLE_SCOPES[Role(user.role)],
        credential="session",
    )


def keep_last_use(pk: int, last_used_at: datetime | None, now: datetime) -> None:
    """Keep when a key was last used, to the minute: at most one write a minute, however many requests race for it."""
    due = now - ApiKey.LAST_USE_KEPT_EVERY
    if last_used_at is None or last_used_at <= due:
        ApiKey.objects.filter(Q(last_used_at=None) | Q(last_used_at__lte=due), pk=pk).update(last_used_at=now)
