"""The job that deletes tokens after their expiry."""

from datetime import timedelta
from threading import Event

from django.utils import timezone

from contentapi.core.identity import Role
from tests.factories import make_user
from users.background import purge_tokens
from users.models import IssuedToken


def test_tokens_that_expired_more_than_a_day_ago_are_deleted() -> None:
    user, now = make_user(Role.READER), timezone.now()
    for jti, hours in {"valid": 1, "expired": -23, "old": -25}.items():
        IssuedToken.objects.create(jti=jti, user=user, role=user.role, expires_at=now + timedelta(hours=hours))

    purge_tokens(Event())

    assert set(IssuedToken.objects.values_list("jti", flat=True)) == {"valid", "expired"}
