"""A client in which an editor is logged in."""

import pytest
from django.test import Client

from contentapi.core.identity import Role
from tests.factories import make_user


@pytest.fixture
def editor_client(db: None, client: Client) -> Client:  # noqa: ARG001
    """Return a client in which an editor is logged in."""
    client.force_login(make_user(Role.EDITOR))
    return client
