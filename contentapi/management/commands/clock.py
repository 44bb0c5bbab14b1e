"""Do scheduled work until SIGTERM or Ctrl-C. The Procfile has one such process; `make run` runs the clock itself."""

import signal
from functools import partial
from threading import Event, Thread
from typing import Any

from django.core.management.base import CommandParser

from contentapi.clock import INTERVAL, run_clock
from contentapi.conf import conf
from contentapi.core.commands import OperatorCommand
from contentapi.models import ClockHeartbeat
from contentapi.monitoring.start import start_exporter, start_figures
from contentapi.server import systemd


class Command(OperatorCommand):
    help = (
        f"Publish scheduled posts when they are due, and keep the search index up to date: every {INTERVAL} seconds, "
        "until SIGTERM or Ctrl-C. Several clocks can run at the same time; they never publish a post twice. The clock "
        "also deletes the history of posts that were deleted more than 30 days ago."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--retire",
            action="store_true",
            help="run no clock, and state that this deployment has none any more: /readyz no longer requires one",
        )

    def handle(self, *_: Any, retire: bool = False, **__: Any) -> None:
        if retire:
            ClockHeartbeat.objects.all().delete()
            self.info("No clock is expected until one runs again.")
            return
        # The main thread waits for a signal. A handler that sets the event could interrupt code that holds its lock.
        signals = {signal.SIGINT, signal.SIGTERM}
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)
        start_exporter(conf.environment.contentapi_metrics_bind)
        start_figures("clock")
        stop = Event()
        report_round = partial(systemd.notify, "WATCHDOG=1")
        thread = Thread(target=run_clock, args=[stop, report_round], name="clock", daemon=True)
        thread.start()
        self.info("The clock is running.")
        systemd.notify("READY=1")
        signal.sigwait(signals)
        systemd.notify("STOPPING=1")
        stop.set()
        thread.join(timeout=10)
