"""An editor, as a browser and as an actor."""

import pytest
from django.test import Client

from contentapi.auth.sessions import build_session_actor
from contentapi.core.identity import Actor, Role
from tests.factories import make_user


@pytest.fixture
def editor_client(db: None, client: Client) -> Client:  # noqa: ARG001
    """Return a client in which an editor is logged in."""
    client.force_login(make_user(Role.EDITOR))
    return client


@pytest.fixture
def editor(db: None) -> Actor:  # noqa: ARG001
    return build_session_actor(make_user(Role.EDITOR, name="Edda Editor"))
