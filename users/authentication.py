"""Authenticate a request: turn its credential into an `Actor`."""

import hmac
import logging
import re
from collections.abc import Collection, Mapping
from datetime import datetime
from functools import lru_cache, partial

import msgspec
from django.db.models import Q
from django.utils import timezone

from contentapi.auth.jwt import TokenError
from contentapi.conf.timeouts import LAST_USE_INTERVAL
from contentapi.core.errors import Malformed, Unauthenticated
from contentapi.core.identity import ANONYMOUS, Actor, Role, Scope
from contentapi.core.pagination import parse_id
from contentapi.core.replicas import read_credential
from contentapi.projection import PreparedQuery
from users import tokens
from users.models import ApiKey
from users.revocations import REVOCATIONS
from users.services import hash_api_key

LOG = logging.getLogger("users.authentication")
ROLES = {role.value: role for role in Role}
SCOPES = {scope.value: scope for scope in Scope}
API_KEY = re.compile(r"(?P<prefix>capi_[0-9a-f]{8})_[0-9a-f]{64}")


def authenticate(headers: Mapping[str, str]) -> Actor:
    """Return the actor of a request; the anonymous actor only if there is no credential.

    Raises `Unauthenticated` for an invalid credential and `Malformed` for two. Executes at most one indexed read.

    Generated clients send one credential in every header that the OpenAPI document allows. An API key that is also the
    bearer token, or a bearer token that is also the API key, is one credential.
    """
    key, authorization = headers.get("X-API-Key"), headers.get("Authorization")
    if key is not None and authorization is not None:
        if get_bearer_token(authorization) != key:
            raise Malformed("Send one credential: X-API-Key or Authorization, not both.")
        return authenticate_api_key(key) if API_KEY.fullmatch(key) else authenticate_authorization(authorization)
    if key is not None:
        return authenticate_api_key(key)
    if authorization is not None:
        return authenticate_authorization(authorization)
    return ANONYMOUS


def get_bearer_token(authorization: str) -> str | None:
    """Return the token of an Authorization header, or None for another scheme.

    Spaces may precede the token (RFC 6750, section 2.1).
    """
    scheme, _, presented = authorization.partition(" ")
    return presented.lstrip(" ") if scheme.lower() == "bearer" else None


def authenticate_authorization(value: str) -> Actor:
    presented = get_bearer_token(value)
    if presented is None:
        raise Unauthenticated("Authorization must be Bearer and a token.")
    try:
        return authenticate_bearer_token(presented)
    except TokenError as refusal:
        LOG.debug("A bearer token is refused: %s.", refusal)
        raise Unauthenticated("This bearer token is not valid.", bearer_error="invalid_token") from None


def authenticate_bearer_token(presented: str) -> Actor:
    """Return the actor in a token's claims, without a query. Raises `TokenError`."""
    claims = tokens.verify_access_token(presented)
    if claims["jti"] in REVOCATIONS:
        raise TokenError("revoked")
    role, scope = claims.get("role"), claims.get("scope", "")
    if not isinstance(role, str) or role not in ROLES:
        raise TokenError("role is none")
    if not isinstance(scope, str):
        raise TokenError("scope is no text")
    return build_token_actor(claims["sub"], role, scope, str(claims.get("client_id", "")))


@lru_cache(1024)  # an actor has only these four values, and is immutable
def build_token_actor(subject: str, role: str, scope: str, client_id: str) -> Actor:
    """Return the actor of a token; unknown scopes are ignored. Raises `TokenError`."""
    user_id = parse_id(subject)
    if not user_id:
        raise TokenError("sub is no id")
    scopes = frozenset(SCOPES[word] for word in scope.split(" ") if word in SCOPES)
    return Actor(user_id, ROLES[role], scopes, "jwt", credential_id=f"user:{subject}", client_id=client_id)


class ApiKeyRow(msgspec.Struct):
    """An API key with its user's role. `digest` is in PostgreSQL's format of bytes: \\x, then hexadecimal."""

    id: int
    digest: str
    last_used_at: datetime | None
    scopes: list[str]  # also those of an own type that the project no longer has
    user_id: int
    role: Role


USABLE_KEY = PreparedQuery(
    ApiKeyRow,
    lambda given: ApiKey.objects.usable(given("now")).filter(prefix=given("prefix")),
    {"role": "user__role"},
)


def authenticate_api_key(key: str) -> Actor:
    match = API_KEY.fullmatch(key)
    now = timezone.now()
    row, is_primary = (
        read_credential(partial(USABLE_KEY.first, prefix=match["prefix"], now=now)) if match else (None, True)
    )
    if row is None or not is_key_of(key, row):
        raise Unauthenticated("The API key is unknown, expired or revoked.")
    if is_primary:
        record_last_use(row.id, row.last_used_at, now)
    return build_key_actor(key, row)


def is_key_of(key: str, row: ApiKeyRow) -> bool:
    return hmac.compare_digest(row.digest, f"\\x{hash_api_key(key).hex()}")


def build_key_actor(key: str, row: ApiKeyRow) -> Actor:
    credential_id = f"key:{key.rpartition('_')[0]}"
    scopes = frozenset([SCOPES[scope] for scope in row.scopes if scope in SCOPES])
    return Actor(row.user_id, row.role, scopes, credential="api-key", credential_id=credential_id)


def authenticate_again(credentials: Collection[Mapping[str, str]]) -> list[Actor | None]:
    """Return the present actor of each credential, as `authenticate` does; None for one that is not valid any more.

    One statement reads all API keys, and one the revocations. Raises Django's database errors.
    """
    REVOCATIONS.refresh()  # otherwise a token would be checked against what was known before an outage
    keys = [
        headers.get("X-API-Key") or get_bearer_token(headers.get("Authorization", "")) or "" for headers in credentials
    ]
    rows = read_usable_keys({match["prefix"] for match in map(API_KEY.fullmatch, keys) if match})
    actors: list[Actor | None] = []
    for headers, key in zip(credentials, keys, strict=True):
        if match := API_KEY.fullmatch(key):
            row = rows.get(match["prefix"])
            actors.append(build_key_actor(key, row) if row is not None and is_key_of(key, row) else None)
        else:
            try:
                actors.append(authenticate(headers))
            except Unauthenticated:
                actors.append(None)
    return actors


def read_usable_keys(prefixes: Collection[str]) -> dict[str, ApiKeyRow]:
    """Return the usable API keys with these prefixes. Executes one statement, or none without a prefix."""
    if not prefixes:
        return {}
    found = ApiKey.objects.all().usable(timezone.now()).filter(prefix__in=prefixes)
    columns = ("prefix", "id", "digest", "last_used_at", "scopes", "user_id", "user__role")
    return {
        prefix: ApiKeyRow(pk, f"\\x{bytes(digest).hex()}", used, scopes, user, Role(role))
        for prefix, pk, digest, used, scopes, user, role in found.values_list(*columns)
    }


def record_last_use(pk: int, last_used_at: datetime | None, now: datetime) -> None:
    """Store the time at which a key was last used: at most one write per minute, also for concurrent requests."""
    due = now - LAST_USE_INTERVAL
    if last_used_at is None or last_used_at <= due:
        ApiKey.objects.filter(Q(last_used_at=None) | Q(last_used_at__lte=due), pk=pk).update(last_used_at=now)
