"""Secrets in sessions."""

import pytest
from django.contrib.sessions.models import Session
from pytest_django import Settings

from contentapi.auth.sessions import SessionStore, read_secret, store_secret

pytestmark = pytest.mark.django_db


def test_secret_is_read_again_and_is_not_in_the_table() -> None:
    session = SessionStore()
    store_secret(session, "token", ["cap_1", "ß"])
    session.save()

    stored = Session.objects.get().session_data

    assert "cap_1" not in str(SessionStore().decode(stored))
    assert read_secret(SessionStore(session.session_key), "token") == ["cap_1", "ß"]
    assert read_secret(session, "other") is None


def test_secret_under_another_name_or_another_key_is_none(settings: Settings) -> None:
    session = SessionStore()
    store_secret(session, "token", "cap_1")
    session["other"] = session["token"]

    assert read_secret(session, "other") is None
    settings.SECRET_KEY = "x" * 50
    assert read_secret(session, "token") is None
