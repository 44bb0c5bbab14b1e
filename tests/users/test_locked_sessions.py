"""Sessions end when their user is locked, and for good."""

from typing import Any

import pytest
from django.test import Client

from contentapi.core.identity import OPERATOR, Role
from tests.factories import make_user
from users.services import lock_user, unlock_user

pytestmark = pytest.mark.django_db


def is_logged_in(client: Client) -> bool:
    return client.get("/admin/").status_code == 200


def test_session_from_before_a_lock_is_not_valid_after_the_unlock() -> None:
    user, client, other = make_user(Role.EDITOR), Client(), Client()
    client.force_login(user)
    other.force_login(make_user(Role.EDITOR))
    for _ in range(2):
        assert is_logged_in(client)
        lock_user(actor=OPERATOR, user_id=str(user.pk))
        lock_user(actor=OPERATOR, user_id=str(user.pk))
        unlock_user(actor=OPERATOR, user_id=str(user.pk))
        assert not is_logged_in(client)
        user.refresh_from_db()
        client.force_login(user)

    assert is_logged_in(client)
    assert is_logged_in(other)


def test_session_from_before_a_lock_is_not_valid_with_a_new_secret_key(settings: Any) -> None:
    user, client = make_user(Role.EDITOR), Client()
    lock_user(actor=OPERATOR, user_id=str(user.pk))
    unlock_user(actor=OPERATOR, user_id=str(user.pk))
    user.refresh_from_db()
    client.force_login(user)
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another" * 10

    assert is_logged_in(client)

    lock_user(actor=OPERATOR, user_id=str(user.pk))
    unlock_user(actor=OPERATOR, user_id=str(user.pk))

    assert not is_logged_in(client)
