"""The end of a server: the master alone decides in which order the processes end.

A Ctrl-C in a terminal and a service manager can signal all processes. The master refuses new connections and lets its
workers accept those in the listen queue. Then it ends as its server does: by SIGTERM to each worker, which finishes its
requests. A worker ignores SIGINT, and SIGTERM that its master has not sent.
"""

import os
import signal
import socket
import time
from collections.abc import Callable, Iterable
from threading import Thread
from typing import Any

from contentapi.conf import conf
from contentapi.conf.timeouts import KILL_DELAY, LIFE_SIGN_INTERVAL, SECOND_SIGNAL, derive_timeouts
from contentapi.server import systemd
from contentapi.server.listen_queue import empty_queues
from contentapi.server.watchdog import WATCHDOG
from contentapi.server.worker import WORKER

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class OrderlyEnd:
    """Handles the signals of a master, around the handler of its server."""

    def __init__(self, find_listeners: Callable[[], Iterable[socket.socket]]) -> None:
        self.find_listeners = find_listeners  # returns the listening sockets that no other server uses
        self.master = os.getpid()
        self.end_as_server: Callable[[int, Any], Any]
        self.began_at = 0.0
        self.is_urgent = False

    def install(self) -> None:
        """Call this in the main thread, when the server has installed its own handlers."""
        self.end_as_server = signal.getsignal(signal.SIGTERM)  # type: ignore[assignment]
        for number in ENDING_SIGNALS:
            signal.signal(number, self.handle)

    def handle(self, _: int, frame: Any) -> None:
        """Begin the end. Another signal ends the server at once; two programs may send the first one."""
        if os.getpid() != self.master:  # a worker that does not obey its master yet
            return
        if not self.began_at:
            self.begin(frame)
        elif not self.is_urgent and time.monotonic() - self.began_at > SECOND_SIGNAL:
            self.is_urgent = True
            WATCHDOG.end_within(KILL_DELAY)

    def begin(self, frame: Any) -> None:
        self.began_at = time.monotonic()
        systemd.notify("STOPPING=1")
        limit = derive_timeouts(conf.environment).shutdown
        WATCHDOG.end_within(limit)
        empty_queues(self.find_listeners(), limit, lambda: self.is_urgent)
        self.end_as_server(signal.SIGTERM, frame)


def obey_master(retire: Callable[[], None] = lambda: None) -> None:
    """Let only the master end this worker. Call this before the worker starts a thread, which inherits the mask.

    `retire` is called before the worker ends as its server ends workers: by its handler of SIGTERM.
    """
    if hasattr(signal, "sigwaitinfo"):  # not on macOS
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
        inherited = signal.getsignal(signal.SIGTERM)
        Thread(target=await_master, args=[retire, inherited], name="end", daemon=True).start()


def await_master(retire: Callable[[], None], inherited: Any) -> None:
    while True:
        received = signal.sigwaitinfo(ENDING_SIGNALS)
        if received.si_signo == signal.SIGTERM and received.si_pid == WATCHDOG.master:
            break
    WORKER.is_retiring = True
    retire()
    while (handler := signal.getsignal(signal.SIGTERM)) is inherited or not callable(handler):
        time.sleep(LIFE_SIGN_INTERVAL)  # the server installs its own soon
    handler(signal.SIGTERM, None)
