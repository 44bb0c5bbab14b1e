"""Issue and read bearer tokens of users: JWTs with the claims of RFC 9068."""

import secrets
import time
from collections.abc import Iterable
from datetime import UTC, datetime

from contentapi.auth import jwt
from contentapi.auth.jwt import Claims, TokenError
from contentapi.auth.signing_keys import get_key_ring
from contentapi.conf import conf
from contentapi.conf.timeouts import ACCESS_TOKEN_LIFETIME, TOKEN_MAX_LIFETIME
from contentapi.core.errors import Invalid
from contentapi.core.identity import OPERATOR, ROLE_SCOPES, Actor, Role, Scope
from contentapi.http.hosts import is_issuer
from users.audit import Audit
from users.models import IssuedToken, User

AUDIENCE = "contentapi"


def issue_token(
    *,
    user: User,
    scopes: Iterable[Scope] = (),
    ttl: int = ACCESS_TOKEN_LIFETIME,
    issuer: str = "",
    jti: str = "",
    is_oauth: bool = False,
    actor: Actor = OPERATOR,
    **claims: str,
) -> str:
    """Return a token for a user that is valid for `ttl` seconds. Raises `Invalid`.

    `actor` issues the token: an operator, or the user through an OAuth client.

    Without scopes, the token has all scopes of the user's role. Its id is stored, so that it is revoked when the user
    is deleted, locked or gets another role (`users.revocations`).
    """
    if not user.is_active:
        raise Invalid({"user": ["This account is locked."]})
    if not 1 <= ttl <= TOKEN_MAX_LIFETIME:
        raise Invalid({"ttl": [f"From 1 to {TOKEN_MAX_LIFETIME} seconds."]})
    role, now = Role(user.role), int(time.time())
    ours = {
        "iss": issuer or conf.origin,
        "aud": AUDIENCE,
        "sub": str(user.pk),
        "name": user.name,
        "role": role.value,
        "scope": " ".join(sorted(set(scopes) or ROLE_SCOPES[role])),
        "iat": now,
        "exp": now + ttl,
        "jti": jti or generate_token_id(),
    }
    expires_at = datetime.fromtimestamp(now + ttl, UTC)
    IssuedToken.objects.create(jti=ours["jti"], user=user, role=role, is_oauth=is_oauth, expires_at=expires_at)
    details = {"user_id": user.pk, "scopes": ours["scope"], "expires_at": expires_at.isoformat()}
    Audit.TOKEN_ISSUED.record(actor, "token", ours["jti"], **details)
    return jwt.encode({**claims, **ours}, get_key_ring().get_signing_key())


def generate_token_id() -> str:
    return secrets.token_hex(16)


def verify_access_token(token: str) -> Claims:
    """Return the claims of a valid token. Raises `TokenError`. Revocation is not checked."""
    return jwt.verify(token, get_key_ring().get, is_issuer=is_issuer, audience=AUDIENCE)


def read_claims(token: str) -> Claims | None:
    """Return the claims of a valid token, or None."""
    try:
        return verify_access_token(token)
    except TokenError:
        return None
