"""The jobs of the background process that belong to no app."""

from datetime import timedelta
from threading import Event

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from contentapi.background import list_jobs


@pytest.mark.django_db
def test_expired_sessions_are_deleted() -> None:
    now = timezone.now()
    for key, hours in {"valid": 1, "expired": -1}.items():
        Session.objects.create(session_key=key, session_data="", expire_date=now + timedelta(hours=hours))

    jobs = {job.name: job for job in list_jobs()}
    jobs["purge_sessions"].run(Event())

    assert list(Session.objects.values_list("session_key", flat=True)) == ["valid"]
