"""Revocation of tokens before they expire, after a change of their user."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from contentapi.conf.timeouts import CLOCK_LEEWAY
from contentapi.core.errors import Unauthenticated
from contentapi.core.identity import Role
from tests.factories import make_user
from users import tokens
from users.authentication import authenticate
from users.models import IssuedToken, User
from users.revocations import REVOCATIONS


def lock(user: User) -> None:
    user.is_active = False
    user.save()


def demote(user: User) -> None:
    user.role = Role.READER
    user.save()


def delete(user: User) -> None:
    User.objects.filter(pk=user.pk).delete()


@pytest.mark.parametrize("change", [lock, demote, delete])
def test_token_of_a_changed_or_deleted_user_is_refused(change: Callable[[User], None]) -> None:
    user, other = make_user(Role.EDITOR), make_user(Role.EDITOR)
    ends, stays = (tokens.issue_token(user=each, ttl=3600) for each in (user, other))
    assert authenticate({"Authorization": f"Bearer {ends}"}).user_id == user.pk  # known from now on

    change(user)
    REVOCATIONS.refresh()

    with pytest.raises(Unauthenticated):
        authenticate({"Authorization": f"Bearer {ends}"})
    assert authenticate({"Authorization": f"Bearer {stays}"}).user_id == other.pk


@pytest.mark.parametrize("seconds", [-600, -1, 0, CLOCK_LEEWAY - 1])
def test_revoked_token_stays_revoked_until_its_leeway_ends(seconds: int) -> None:
    user, now = make_user(), timezone.now()
    tokens.issue_token(user=user, jti="ends")
    IssuedToken.objects.update(expires_at=now - timedelta(seconds=seconds))
    lock(user)

    revoked = IssuedToken.objects.all().revoked(now)

    assert [token.jti for token in revoked] == ["ends"]


def test_expired_token_is_not_listed_as_revoked() -> None:
    user = make_user()
    tokens.issue_token(user=user)
    IssuedToken.objects.update(expires_at=timezone.now() - timedelta(minutes=2))
    lock(user)

    assert not IssuedToken.objects.all().revoked(timezone.now()).exists()


def test_changed_name_of_a_user_revokes_nothing() -> None:
    user = make_user()
    token = tokens.issue_token(user=user)
    user.name = "Another"
    user.save()
    REVOCATIONS.refresh()

    assert authenticate({"Authorization": f"Bearer {token}"}).user_id == user.pk
