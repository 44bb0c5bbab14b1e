"""Work in the background until SIGTERM or Ctrl-C. The Procfile has one such process; `make run` has a worker itself."""

import signal
from functools import partial
from typing import Any

from django.core.management.base import CommandParser

from contentapi.conf import conf
from contentapi.core.commands import OperatorCommand
from contentapi.events.declarations import load_jobs
from contentapi.health.checks import require_agreement
from contentapi.models import JobHeartbeat
from contentapi.monitoring.start import start_exporter, start_figures
from contentapi.server import systemd
from contentapi.worker.runner import Worker


class Command(OperatorCommand):
    help = (
        "Do the work in the background until SIGTERM or Ctrl-C: publish scheduled posts when they are due, import "
        "uploaded zip files, keep the search index up to date, and delete what is too old. Several workers can run at "
        "the same time, also on several hosts; they never do the same work twice."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--retire",
            action="store_true",
            help="run no worker, and state that this deployment has none any more: /readyz no longer requires one",
        )

    def handle(self, *_: Any, retire: bool = False, **__: Any) -> None:
        if retire:
            JobHeartbeat.objects.all().delete()
            self.info("No worker is expected until one runs again.")
            return
        require_agreement()
        # The main thread waits for a signal. A handler that sets an event could interrupt code that holds its lock.
        signals = {signal.SIGINT, signal.SIGTERM}
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)
        start_exporter(conf.environment.contentapi_metrics_bind)
        start_figures("worker")
        with Worker(load_jobs(), partial(systemd.notify, "WATCHDOG=1")):
            self.info("The worker is running.")
            systemd.notify("READY=1")
            signal.sigwait(signals)
            systemd.notify("STOPPING=1")
