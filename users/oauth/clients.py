"""The applications that may ask users for access (RFC 6749, section 2)."""

import base64
import re
import secrets
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qs, unquote_plus, urlsplit

from django.contrib.auth.hashers import check_password
from django.db import transaction
from django.db.models import QuerySet
from oauth2_provider.models import Application

from contentapi.core.errors import Conflict, Invalid, NotFound, require_found
from contentapi.core.identity import OPERATOR, Actor
from contentapi.core.pagination import parse_id
from contentapi.core.policy import require_permission
from contentapi.core.unicode import is_storable
from users import policy
from users.audit import Audit

MAX_NAME = 100
MAX_URI = 2000
URI = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+")  # the characters of RFC 3986
HOST_AND_PORT = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:[1-9][0-9]{0,4})?", re.IGNORECASE)
LOOPBACK = re.compile(r"(http://(?:127\.0\.0\.1|\[::1\]|localhost))(?::[1-9][0-9]{0,4})?(/.*)")
EXAMPLE = "https://app.example.com/callback"
NATIVE_RULE = (
    "A public client may also have a loopback URI such as http://127.0.0.1/callback, where any port is accepted, or "
    "a URI with a scheme of its own that is a domain name in reverse, such as com.example.app:/callback."
)
LABEL = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?"  # of a domain name
# The words with which schemes of browsers begin. `data.x` is none, but software exists that reads it as `data`.
WORDS_OF_BROWSERS = {"about", "blob", "chrome", "data", "file", "filesystem", "http", "https", "javascript", "vbscript"}
PRIVATE_SCHEME = re.compile(rf"(?=[a-z]){LABEL}(\.{LABEL})+")
RESPONSE_PARAMETERS = {"code", "state", "iss", "error", "error_description", "error_uri"}


class RegisteredClient(NamedTuple):
    """A new client. Its secret cannot be read again. It is empty for a public client."""

    client_id: str
    secret: str


def register_client(*, name: str, redirect_uris: Sequence[str], public: bool = False) -> RegisteredClient:
    """Register an application. Only the Argon2 hash of its secret is stored. Raises `Invalid`."""
    client = Application(
        name=name.strip(),
        redirect_uris=" ".join(redirect_uris),
        client_type=Application.CLIENT_PUBLIC if public else Application.CLIENT_CONFIDENTIAL,
    )
    secret = save_client(client, OPERATOR)
    return RegisteredClient(client.client_id, secret)


def save_client(client: Application, actor: Actor, *, with_new_secret: bool = True) -> str:
    """Save a client and return its new secret; an empty string without one, and for a public client. Raises `Invalid`.

    A new client gets a secret, and so does one of another type: that of a former public client is known to nobody, and
    that of a former confidential client must not be needed any more. A public client has a secret that nobody knows:
    an empty one would authenticate it.
    """
    validate_client(client)
    event = Audit.OAUTH_CLIENT_CHANGED if client.pk else Audit.OAUTH_CLIENT_CREATED
    secret = secrets.token_urlsafe(32) if with_new_secret else ""
    client.authorization_grant_type = Application.GRANT_AUTHORIZATION_CODE
    client.client_secret = secret or client.client_secret
    client.save()
    event.record(actor, "oauth_client", client.client_id, client_type=client.client_type)
    return "" if client.client_type == Application.CLIENT_PUBLIC else secret


@transaction.atomic
def renew_client_secret(*, actor: Actor, client_id: str, opened: str) -> str:
    """Replace the secret of a confidential client and return the new one. The old one stops working at once.

    `client_id` is the id of the row. `opened` is what `describe_state` returned for the page that was opened, so that a
    page that is sent twice creates one secret. Raises `NotFound`, and `Conflict` for such a page and a public client.
    """
    require_permission(actor, policy.may_manage_clients(actor), "create secrets of applications")
    found = Application.objects.select_for_update().filter(pk=parse_id(client_id)).first()
    client = require_found(found, "application")
    if client.client_type == Application.CLIENT_PUBLIC:
        raise Conflict("A public application has no secret.")
    if describe_state(client) != opened:
        raise Conflict("This page has already created a secret, or the application has changed. Open the page again.")
    secret = secrets.token_urlsafe(32)
    client.client_secret = secret
    client.save(update_fields=["client_secret", "updated"])
    Audit.OAUTH_CLIENT_SECRET_RENEWED.record(actor, "oauth_client", client.client_id)
    return secret


@transaction.atomic
def delete_client(*, actor: Actor, client: Application) -> None:
    """Delete a client with its consents and tokens."""
    require_permission(actor, policy.may_manage_clients(actor), "delete applications")
    client.delete()
    Audit.OAUTH_CLIENT_REVOKED.record(actor, "oauth_client", client.client_id)


def select_clients(actor: Actor) -> QuerySet[Application]:
    """Return the clients that the actor may manage."""
    clients: QuerySet[Application] = Application.objects.all()
    return clients if policy.may_manage_clients(actor) else clients.none()


@transaction.atomic
def revoke_client(*, actor: Actor, client_id: str) -> Application:
    """Delete the client with this client id: its secret, consents and tokens are refused. Raises `NotFound`."""
    require_permission(actor, policy.may_manage_clients(actor), "delete applications")
    clients = select_clients(actor).select_for_update(of=("self",)).filter(client_id=client_id)
    client = clients.first() if is_storable(client_id) else None
    if client is None:
        raise NotFound(f"There is no OAuth client with the id {client_id}.")
    delete_client(actor=actor, client=client)
    return client


def authenticate_client(header: str | None, client_id: str | None, secret: str | None) -> Application | None:
    """Return the client that the header authenticates or, without one, the form (RFC 6749, section 2.3)."""
    if header is not None:
        client_id, secret = parse_basic_credentials(header)
    if not client_id or not is_storable(client_id):
        return None
    client = Application.objects.filter(client_id=client_id).first()
    return client if client and check_password(secret or "", client.client_secret) else None


def parse_basic_credentials(header: str) -> tuple[str, str]:
    """Return the client id and the secret of an Authorization header; empty texts for an invalid header."""
    scheme, _, pair = header.partition(" ")
    try:
        client_id, _, secret = base64.b64decode(pair if scheme.lower() == "basic" else "").decode().partition(":")
    except ValueError:
        return "", ""
    return unquote_plus(client_id), unquote_plus(secret)


def describe_state(client: Application) -> str:
    """Return a text that differs after each change of a client."""
    return str(client.updated.isoformat())


def validate_client(client: Application) -> None:
    """Raise `Invalid` for a name or redirect URIs that the client must not have."""
    problems: dict[str, list[str]] = {}
    if not 1 <= len(client.name) <= MAX_NAME or not is_storable(client.name):
        problems["name"] = [f"From 1 to {MAX_NAME} characters of Unicode text."]
    uris, is_public = client.redirect_uris, client.client_type == Application.CLIENT_PUBLIC
    if found := list_redirect_uri_problems(uris.split(" ") if uris else [], public=is_public):
        problems["redirect_uri"] = found
    if problems:
        raise Invalid(problems)


def list_redirect_uri_problems(uris: Sequence[str], *, public: bool) -> list[str]:
    if not uris:
        return [f"Name at least one, such as {EXAMPLE}."]
    if len(set(uris)) < len(uris):
        return ["Each redirect URI must be there once."]
    return [problem for uri in uris if (problem := find_redirect_uri_problem(uri, public=public))]


def find_redirect_uri_problem(uri: str, *, public: bool) -> str:
    """Return why a URI is not allowed as a redirect URI, or an empty string if it is.

    Web applications have https URIs (RFC 9700, section 2.1). Public clients, which may be applications on a device, can
    also have loopback URIs and private-use schemes (RFC 8252, section 7).
    """
    try:
        parts = urlsplit(uri)
        _ = parts.port  # an invalid port raises `ValueError`
    except ValueError:
        return f"{uri} is not a URI. Write it like {EXAMPLE}."
    if "*" in uri:
        return f"{uri} must not have a *: redirect URIs are compared character for character."
    is_web = parts.scheme == "https" and HOST_AND_PORT.fullmatch(parts.netloc.rpartition("@")[2])
    is_native = is_loopback(uri) or is_private_use(parts)
    if not URI.fullmatch(uri) or len(uri) > MAX_URI or not (is_web or is_native):
        rule = f"{uri} must be an absolute https URI of at most {MAX_URI} characters, written in ASCII."
        return f"{rule} Write it like {EXAMPLE}. {NATIVE_RULE}"
    if is_native and not public:
        return f"{uri} is for applications on a device, which keep no secret: only a public client may have it."
    if "#" in uri or parts.username is not None:
        return f"{uri} must not have a fragment or a user."
    if RESPONSE_PARAMETERS & parse_qs(parts.query, keep_blank_values=True).keys():
        names = ", ".join(sorted(RESPONSE_PARAMETERS))
        return f"{uri} must not have these query parameters, which the server adds to its response: {names}."
    return ""


def is_loopback(uri: str) -> bool:
    """Return whether a URI leads to a server on the user's device (RFC 8252, section 7.3)."""
    return LOOPBACK.fullmatch(uri) is not None


def is_private_use(parts: SplitResult) -> bool:
    """Return whether a URI has a private-use scheme, such as `com.example.app:/callback` (RFC 8252, section 7.1).

    The scheme is a reversed domain name of the application's author, with two labels or more, so that no two
    applications share one.
    """
    is_reversed_name = (
        PRIVATE_SCHEME.fullmatch(parts.scheme) and parts.scheme.partition(".")[0] not in WORDS_OF_BROWSERS
    )
    return bool(is_reversed_name) and bool(parts.netloc or parts.path.startswith("/"))


def list_redirect_uri_warnings(uris: Sequence[str]) -> list[str]:
    """Return a warning for each URI with the host `localhost`, which can be another device (RFC 8252, section 8.3)."""
    return [
        f"{uri}: the name localhost may lead to another device, depending on the user's settings. Prefer 127.0.0.1."
        for uri in uris
        if urlsplit(uri).hostname == "localhost"
    ]


def allows_redirect_uri(client: Application, uri: str) -> bool:
    """Return whether a URI is registered: character for character, except for the port of a loopback URI.

    An application on a device gets a free port from its operating system at each start (RFC 8252, section 7.3).
    """
    registered = client.redirect_uris.split()
    if uri in registered:
        return True
    is_public = client.client_type == Application.CLIENT_PUBLIC
    if not is_public or not is_loopback(uri) or find_redirect_uri_problem(uri, public=True):
        return False
    return drop_port(uri) in {drop_port(each) for each in registered if is_loopback(each)}


def drop_port(uri: str) -> str:
    """Return a loopback URI without its port: `http://[::1]:49152/callback` is `http://[::1]/callback`."""
    return LOOPBACK.sub(r"\1\2", uri)
