"""The jobs that belong to no app."""

from threading import Event

from contentapi.auth.sessions import SessionStore
from contentapi.conf.timeouts import PURGE_INTERVAL, TOKEN_PURGE_INTERVAL
from contentapi.events import background as events
from contentapi.events.webhooks.sender import Sender
from contentapi.http.idempotency import purge_expired_records
from contentapi.worker.jobs import Job


def list_jobs() -> list[Job]:
    sender = Sender()
    return [
        *events.list_jobs(),
        Job("purge_idempotency_keys", purge_idempotency_keys, interval=PURGE_INTERVAL),
        Job("purge_sessions", purge_sessions, interval=TOKEN_PURGE_INTERVAL),
        Job("webhooks", sender.run, interval=lambda: sender.pause),
    ]


def purge_idempotency_keys(stop: Event) -> None:
    while not stop.is_set() and purge_expired_records():
        pass


def purge_sessions(_: Event) -> None:
    SessionStore.clear_expired()
