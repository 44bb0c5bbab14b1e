"""An editor, as a browser and as an actor; an author as a browser."""

import pytest
from django.test import Client

from contentapi.auth.sessions import build_session_actor
from contentapi.core.identity import Actor, Role
from tests.factories import make_author, make_user


@pytest.fixture
def editor_client(db: None, client: Client) -> Client:  # noqa: ARG001
    """Return a client in which an editor is logged in."""
    client.force_login(make_user(Role.EDITOR))
    return client


@pytest.fixture
def author_client(client: Client) -> Client:
    client.force_login(make_author(user=make_user(Role.AUTHOR)).user)  # type: ignore[arg-type]
    return client


@pytest.fixture
def editor(db: None) -> Actor:  # noqa: ARG001
    """Return an editor with an author profile."""
    user = make_user(Role.EDITOR, name="Edda Editor")
    make_author(user=user, name=user.name)
    return build_session_actor(user)
