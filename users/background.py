"""The job of the background process that deletes tokens after their expiry."""

from threading import Event

from django.utils import timezone
from oauth2_provider.models import clear_expired

from contentapi.conf.timeouts import TOKEN_PURGE_INTERVAL
from contentapi.worker.jobs import Job
from users.models import IssuedToken


def list_jobs() -> list[Job]:
    return [Job("purge_tokens", purge_tokens, interval=TOKEN_PURGE_INTERVAL)]


def purge_tokens(_: Event) -> None:
    clear_expired()
    IssuedToken.objects.all().prunable(timezone.now()).delete()
