"""The jobs of the background process: one moves events to the log, one makes and drops its partitions."""

from threading import Event

from contentapi.conf.timeouts import PARTITION_INTERVAL
from contentapi.events.partitions import expire_events, look_at_all_events, prepare_partitions
from contentapi.events.relay import Relay
from contentapi.events.webhooks.deliveries import measure_webhooks
from contentapi.events.webhooks.planning import advance_all_stalled_subjects
from contentapi.worker.jobs import Job


def list_jobs() -> list[Job]:
    relay = Relay()
    return [
        Job("events", relay.run, interval=lambda: relay.pause),
        Job("partitions", maintain_partitions, interval=PARTITION_INTERVAL),
    ]


def maintain_partitions(_: Event) -> None:
    prepare_partitions()
    look_at_all_events()
    expire_events()
    advance_all_stalled_subjects()
    measure_webhooks()
