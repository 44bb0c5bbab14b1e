"""Do scheduled work until SIGTERM or Ctrl-C. The Procfile has one such process; `make run` runs the clock itself."""

import signal
from threading import Event
from typing import Any

from contentapi.clock import INTERVAL, run_clock
from contentapi.core.commands import OperatorCommand


class Command(OperatorCommand):
    help = (
        f"Publish scheduled posts when they are due, and keep the search index up to date: every {INTERVAL} seconds, "
        "until SIGTERM or Ctrl-C. Several clocks can run at the same time; they never publish a post twice."
    )

    def handle(self, *_: Any, **__: Any) -> None:
        stop = Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        self.info("The clock is running.")
        run_clock(stop)
