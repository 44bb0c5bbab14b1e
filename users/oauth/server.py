"""The grants: oauthlib's server on the tables of django-oauth-toolkit, stricter than both (RFC 6749, 7636, 9700).

The authorization code and the refresh token are the only grants, and PKCE with S256 is the only challenge. A code or a
refresh token is locked while it is exchanged, so that only one of two simultaneous exchanges succeeds. The other is
reuse: it revokes the family, which is every token that was issued from the same consent.
"""

import hashlib
import re
import secrets
from collections.abc import Iterable
from typing import Any

from oauth2_provider.models import AccessToken, Application, Grant, RefreshToken
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauthlib.oauth2 import WebApplicationServer
from oauthlib.oauth2.rfc6749.errors import InvalidGrantError, InvalidRequestError, InvalidScopeError

from contentapi.conf.timeouts import ACCESS_TOKEN_LIFETIME
from contentapi.core.identity import ROLE_SCOPES, Actor, Role, Scope
from users import tokens
from users.audit import Audit
from users.models import IssuedToken, User
from users.oauth.clients import allows_redirect_uri, authenticate_client

S256_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")  # a SHA-256 in base64url (RFC 7636, section 4.2)
LONGEST_STATE = 1000
ISSUER = "issuer"  # a key in the headers of oauthlib's request
Request = Any  # oauthlib has no types


def validate_authorization_parameters(request: Request) -> None:
    """Raise `InvalidRequestError` for a request that oauthlib has accepted, before the user sees the consent page."""
    if request.code_challenge_method != "S256" or not S256_CHALLENGE.fullmatch(request.code_challenge):
        raise InvalidRequestError("code_challenge must be a SHA-256 in base64url (S256).", request=request)
    if len(request.state or "") > LONGEST_STATE:
        raise InvalidRequestError(f"state has at most {LONGEST_STATE} characters.", request=request)


class OAuthRequestValidator(OAuth2Validator):  # type: ignore[misc]
    def client_authentication_required(self, request: Request, *_: Any, **__: Any) -> bool:
        is_basic = request.headers.get("Authorization", "").lower().startswith("basic ")
        return is_basic or bool(super().client_authentication_required(request))

    def authenticate_client(self, request: Request, *_: Any, **__: Any) -> bool:
        header = request.headers.get("Authorization")
        request.client = authenticate_client(header, request.client_id, request.client_secret)
        return request.client is not None

    def validate_redirect_uri(self, _: str, redirect_uri: str, request: Request, *__: Any, **___: Any) -> bool:
        return allows_redirect_uri(request.client, redirect_uri)

    def save_authorization_code(self, client_id: str, code: dict[str, str], request: Request, *_: Any) -> None:
        request.scopes = require_usable_scopes(request)
        record_consent(Audit.OAUTH_CONSENT_GRANTED, build_oauth_actor(request), " ".join(request.scopes))
        super().save_authorization_code(client_id, {**code, "code": hash_token(code["code"])}, request)

    def validate_code(self, _: str, code: str, client: Application, request: Request, *__: Any, **___: Any) -> bool:
        grant = Grant.objects.select_for_update().filter(code=code, application=client).first()
        if grant is None:
            revoke_tokens_of_reused_code(code, client)
            return False
        request.user, request.scopes = grant.user, grant.scope.split()
        return not grant.is_expired() and bool(grant.user.is_active)

    def confirm_redirect_uri(self, *arguments: Any, **options: Any) -> bool:
        """Raise `InvalidGrantError` where oauthlib would report `invalid_request` (RFC 6749, section 5.2)."""
        if not super().confirm_redirect_uri(*arguments, **options):
            raise InvalidGrantError("redirect_uri is not that of the authorization request.")
        return True

    def validate_refresh_token(self, token: str, client: Application, request: Request, *_: Any, **__: Any) -> bool:
        held = RefreshToken.objects.select_for_update().filter(token_checksum=hash_token(token))
        if not any(each.application_id == client.pk for each in held):
            return False  # unknown, or issued to another client: do not revoke the other client's tokens
        is_valid = super().validate_refresh_token(token, client, request)
        if not is_valid and all(each.revoked is not None for each in held):
            record_reuse(held[0].user_id, client, "refresh token")
        return bool(is_valid) and request.user.is_active

    def revoke_token(self, token: str, token_type_hint: str | None, request: Request, *_: Any, **__: Any) -> None:
        """Revoke a token of the client with the tokens of its family, and write a line of the audit log."""
        held = {"token_checksum": hash_token(token), "application": request.client}
        refresh_tokens = RefreshToken.objects.filter(**held, revoked=None)
        owner = (refresh_tokens.first() or AccessToken.objects.filter(**held).first()) if request.client else None
        super().revoke_token(token, token_type_hint, request)
        if owner is not None:
            actor = Actor(client_id=request.client.client_id, interface="OAuth")
            record_consent(Audit.OAUTH_CONSENT_REVOKED, actor, user_id=owner.user_id)

    def save_bearer_token(self, token: dict[str, Any], request: Request, *_: Any) -> None:
        """Save the tokens, and link the JWT to them and to the code that was exchanged."""
        super().save_bearer_token(token, request)
        made = RefreshToken.objects.get(token_checksum=hash_token(token["refresh_token"]), revoked=None)
        spent = request.code if request.grant_type == "authorization_code" else ""
        IssuedToken.objects.filter(jti=request.jti).update(
            access_token=made.access_token_id, family=made.token_family, code=spent
        )


def require_usable_scopes(request: Request) -> list[str]:
    """Return the requested scopes that the user's role has. Raises `InvalidScopeError` if there are none."""
    scopes = list_usable_scopes(request.user, request.scopes)
    if not scopes:
        raise InvalidScopeError("Your role allows none of these scopes.", request=request)
    return scopes


def list_usable_scopes(user: User, scopes: Iterable[str]) -> list[str]:
    return [scope for scope in scopes if scope in ROLE_SCOPES[Role(user.role)]]


def revoke_tokens_of_reused_code(code: str, client: Application) -> None:
    """Revoke the tokens that were issued for this code, if this client has exchanged it before."""
    families = IssuedToken.objects.filter(code=code).values("family")
    held = RefreshToken.objects.filter(token_family__in=families, application=client).first()
    if held is not None:
        RefreshToken.revoke_family(held.token_family)
        record_reuse(held.user_id, client, "authorization code")


def build_oauth_actor(request: Request) -> Actor:
    """Return the user who acts through a client at an OAuth endpoint, for the audit log."""
    return Actor(request.user.pk, client_id=request.client.client_id, interface="OAuth")


def record_consent(event: Audit, actor: Actor, scopes: str = "", *, user_id: int | None = None) -> None:
    event.record(actor, "oauth_client", actor.client_id, scopes=scopes, user_id=user_id)


def record_revoked_consents(actor: Actor, refresh_tokens: Iterable[RefreshToken]) -> None:
    for token in refresh_tokens:
        client_id = token.application.client_id
        Audit.OAUTH_CONSENT_REVOKED.record(actor, "oauth_client", client_id, user_id=token.user_id)


def record_reuse(user_id: int, client: Application, kind: str) -> None:
    """Write a line of the audit log for a code or a refresh token that was sent again. Its family is revoked."""
    actor = Actor(client_id=client.client_id, interface="OAuth")
    Audit.OAUTH_TOKEN_REUSED.record(actor, "oauth_client", client.client_id, user_id=user_id, token=kind)


def make_access_token(request: Request) -> str:
    """Return a JWT for oauthlib's request. Its id becomes an attribute of the request."""
    request.scopes = require_usable_scopes(request)
    request.jti = tokens.generate_token_id()
    return tokens.issue_token(
        user=request.user,
        scopes=[Scope(scope) for scope in request.scopes],
        issuer=request.headers[ISSUER],
        client_id=request.client.client_id,
        jti=request.jti,
        is_oauth=True,
        actor=build_oauth_actor(request),
    )


def hash_token(secret: str) -> str:
    """Return the hash that is stored for a code or a token. Both have too many random bits to be guessed."""
    return hashlib.sha256(secret.encode()).hexdigest()


SERVER = WebApplicationServer(
    OAuthRequestValidator(),
    token_generator=make_access_token,
    token_expires_in=ACCESS_TOKEN_LIFETIME,
    refresh_token_generator=lambda _: secrets.token_urlsafe(32),
)
