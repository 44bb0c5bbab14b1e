"""The jobs that belong to no app: those of events, webhooks, idempotency keys and sessions."""

from threading import Event

from contentapi.auth.sessions import SessionStore
from contentapi.conf.timeouts import PARTITION_INTERVAL, PURGE_INTERVAL, TOKEN_PURGE_INTERVAL
from contentapi.events.partitions import expire_events, look_at_all_events, prepare_partitions
from contentapi.events.relay import Relay
from contentapi.events.webhooks.deliveries import measure_webhooks
from contentapi.events.webhooks.planning import advance_all_stalled_subjects
from contentapi.events.webhooks.sender import Sender
from contentapi.http.idempotency import purge_expired_records
from contentapi.worker.jobs import Job


def list_jobs() -> list[Job]:
    relay, sender = Relay(), Sender()
    return [
        Job("events", relay.run, interval=lambda: relay.pause),
        Job("partitions", maintain_partitions, interval=PARTITION_INTERVAL),
        Job("purge_idempotency_keys", purge_idempotency_keys, interval=PURGE_INTERVAL),
        Job("purge_sessions", lambda _: SessionStore.clear_expired(), interval=TOKEN_PURGE_INTERVAL),
        Job("webhooks", sender.run, interval=lambda: sender.pause),
    ]


def maintain_partitions(_: Event) -> None:
    """Make and drop the partitions of events and deliveries, and do what has the same interval."""
    prepare_partitions()
    look_at_all_events()
    expire_events()
    advance_all_stalled_subjects()
    measure_webhooks()


def purge_idempotency_keys(stop: Event) -> None:
    while not stop.is_set() and purge_expired_records():
        pass
