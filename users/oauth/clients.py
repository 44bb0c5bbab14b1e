"""The applications that may ask users for access (RFC 6749, section 2)."""

import re
import secrets
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from oauth2_provider.models import Application

from contentapi.core.errors import Invalid
from contentapi.core.text import is_storable

MAX_NAME = 100
MAX_URI = 2000
URI = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+")  # what RFC 3986 allows, which browsers read as we do
HOST = re.compile(r"[a-z0-9.-]+|[0-9a-f:.]+")  # of an IPv6 address without its brackets
OF_THE_ANSWER = {"code", "state", "iss", "error", "error_description", "error_uri"}


class RegisteredClient(NamedTuple):
    """A new client. Its secret is known now or never; a public client, which could not keep one, has none."""

    client_id: str
    secret: str


def register_client(*, name: str, redirect_uris: Sequence[str], public: bool = False) -> RegisteredClient:
    """Register an application. Raises `Invalid`. Only the secret's Argon2 hash is kept."""
    problems = {"name": list_name_problems(name.strip()), "redirect_uri": list_redirect_uri_problems(redirect_uris)}
    if found := {field: messages for field, messages in problems.items() if messages}:
        raise Invalid(found)
    client = Application(
        name=name.strip(),
        redirect_uris=" ".join(redirect_uris),
        client_type=Application.CLIENT_PUBLIC if public else Application.CLIENT_CONFIDENTIAL,
    )
    secret = save_new_client(client)
    return RegisteredClient(client.client_id, secret)


def save_new_client(client: Application) -> str:
    """Save a new client and return its secret; empty for a public one.

    Nobody learns a public client's, which it has so that an empty one authenticates nothing.
    """
    secret = secrets.token_urlsafe(32)
    client.authorization_grant_type = Application.GRANT_AUTHORIZATION_CODE
    client.client_secret = secret
    client.save(force_insert=True)
    return "" if client.client_type == Application.CLIENT_PUBLIC else secret


def list_name_problems(name: str) -> list[str]:
    fits = 1 <= len(name) <= MAX_NAME and is_storable(name)
    return [] if fits else [f"From 1 to {MAX_NAME} characters of Unicode text."]


def list_redirect_uri_problems(uris: Sequence[str]) -> list[str]:
    if not uris:
        return ["Name at least one."]
    return [problem for uri in uris if (problem := find_redirect_uri_problem(uri))]


def find_redirect_uri_problem(uri: str) -> str:
    """Return the reason why a URI is not allowed as a redirect URI; empty if it is allowed (RFC 9700, section 2.1)."""
    try:
        parts = urlsplit(uri)
        host, _ = parts.hostname, parts.port  # a port that is none raises
    except ValueError:
        return f"{uri} is not a URI."
    if not URI.fullmatch(uri) or len(uri) > MAX_URI or parts.scheme != "https" or not HOST.fullmatch(host or ""):
        return f"{uri} must be an absolute https URI of at most {MAX_URI} characters, written in ASCII."
    if "#" in uri or parts.username is not None:
        return f"{uri} must not have a fragment or a user."
    if OF_THE_ANSWER & parse_qs(parts.query, keep_blank_values=True).keys():
        return f"{uri} must not have a parameter that answers are given in: {', '.join(sorted(OF_THE_ANSWER))}."
    return ""
