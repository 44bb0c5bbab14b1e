"""The job of the background process that moves events to the log."""

from contentapi.conf.timeouts import EVENTS_IDLE_INTERVAL
from contentapi.events.relay import Relay
from contentapi.worker.jobs import Job


def list_jobs() -> list[Job]:
    return [Job("events", Relay().run, interval=EVENTS_IDLE_INTERVAL)]
