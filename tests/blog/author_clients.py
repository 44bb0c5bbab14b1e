"""Clients in which users with author profiles are logged in, for the tests of the form of a post."""

from typing import Any

from django.test import Client

from contentapi.core.identity import Role
from tests.factories import make_author, make_user


def browse(role: Role, **profile: Any) -> Client:
    """Return a client in which a user with an author profile is logged in."""
    client, user = Client(), make_user(role)
    make_author(user=user, **profile)
    client.force_login(user)
    return client
