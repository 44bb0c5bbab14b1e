"""The actor of a request, from its credential headers."""

import pytest
from pytest_django import Settings

from contentapi.auth.authentication import authenticate_request, load_function
from contentapi.core.identity import Actor, Role
from tests.conftest import make_api_key
from tests.factories import make_actor

pytestmark = pytest.mark.django_db


def test_request_with_an_api_key_has_the_actor_of_the_key() -> None:
    author = make_actor(Role.AUTHOR)

    actor = authenticate_request({"HTTP_X_API_KEY": make_api_key(author)})

    assert (actor.user_id, actor.role, actor.credential) == (author.user_id, Role.AUTHOR, "api-key")


def test_authenticator_is_the_function_that_the_setting_names(settings: Settings) -> None:
    settings.AUTHENTICATE = f"{__name__}.identify_admin"
    load_function.cache_clear()
    try:
        assert authenticate_request({}).role is Role.ADMIN
    finally:
        load_function.cache_clear()


def identify_admin(_: object) -> Actor:
    return Actor(role=Role.ADMIN)
