"""An editor, as a browser and as an actor; an author as a browser and as an actor."""

import pytest
from django.test import Client

from blog.services import image_processing
from contentapi.auth.sessions import build_session_actor
from contentapi.core.identity import Actor, Role
from contentapi.media.folder import FolderStorage
from tests.blog.stored_images import make_files
from tests.factories import make_actor, make_author, make_user


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


@pytest.fixture
def author(db: None) -> Actor:  # noqa: ARG001
    return make_actor(Role.AUTHOR)


@pytest.fixture
def process_at_once(monkeypatch: pytest.MonkeyPatch, media: FolderStorage) -> None:
    """Let workers write names instead of images, without a child process."""
    assert media
    monkeypatch.setattr(image_processing, "process_file", make_files)
