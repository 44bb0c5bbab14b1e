"""Additions to gunicorn's master process: it replaces old and stuck workers, and ends without losing a request.

gunicorn's own limits have gaps. `max_requests` stops a worker before another one serves. `timeout` notices a worker
whose main loop stops, but not one whose threads all hang, and it kills healthy workers after the machine was suspended.
The master closes its listening sockets without regard to connections in their queues.

`supervise` replaces some methods of one arbiter. The workers are watched by `contentapi.server.worker_board`.
"""

import queue
import signal
import time
from math import ceil
from typing import Any

from contentapi.conf import conf
from contentapi.conf.timeouts import derive_timeouts
from contentapi.server.listen_queue import empty_queues
from contentapi.server.worker_board import Field, WorkerBoard, WorkerWatch, kill_stuck_worker, start_heartbeat

MAIN_LOOP_TIMEOUT = 5.0  # seconds: a worker's main loop notifies the master each second
ENDING_SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)
SECOND_SIGNAL = 1.0  # seconds after which another signal ends the server at once; two programs may send the first one


class Supervision:
    """The watch over the workers of an arbiter, which is gunicorn's master."""

    def __init__(self, arbiter: Any) -> None:
        self.arbiter = arbiter
        self.board = WorkerBoard()
        self.watches: dict[int, WorkerWatch] = {}  # by process id
        self.pair: tuple[int, int] | None = None  # an old worker and its successor, which is not ready yet
        self.observed_at = time.monotonic()
        self.stopped_at = 0.0
        self.manage_as_gunicorn = arbiter.manage_workers
        self.kill_as_gunicorn = arbiter.kill_worker
        self.stop_as_gunicorn = arbiter.stop
        self.queue_as_gunicorn = arbiter.signal

    def install(self) -> None:
        self.arbiter.murder_workers = self.kill_stuck_workers
        self.arbiter.manage_workers = self.manage_workers
        self.arbiter.kill_worker = self.kill_worker
        self.arbiter.stop = self.stop
        self.arbiter.signal = self.receive_signal
        self.arbiter.handle_int = self.arbiter.handle_term

    def kill_stuck_workers(self) -> None:
        """Kill workers that give no sign of life. gunicorn calls this at each step of its loop."""
        now = time.monotonic()
        step, self.observed_at = now - self.observed_at, now
        workers = self.arbiter.WORKERS
        self.watches = {
            pid: self.watches.get(pid) or WorkerWatch(worker.contentapi_place) for pid, worker in workers.items()
        }
        for pid, watch in self.watches.items():
            watch.observe(step)
            fault = watch.find_fault()
            if fault:
                self.arbiter.log.error("Killing worker %s: %s.", pid, fault)
                kill_stuck_worker(pid)

    def manage_workers(self) -> None:
        """Keep the number of workers. Start the successor of an old worker, and end the old one when it is ready."""
        arbiter = self.arbiter
        if self.pair is None and len(arbiter.WORKERS) == arbiter.num_workers:
            self.start_successor()
        if self.pair is not None:
            old, new = self.pair
            workers, watch = arbiter.WORKERS, self.watches.get(new)
            if old in workers and new in workers and not (watch and watch.is_ready):
                return
            self.pair = None
            if old in workers and new in workers:
                workers[old].age = -1  # gunicorn ends the oldest of too many workers
        self.manage_as_gunicorn()

    def start_successor(self) -> None:
        for pid, watch in self.watches.items():
            reason = watch.find_end_of_life(pid) if pid in self.arbiter.WORKERS else None
            if reason:
                self.arbiter.log.info("Replacing worker %s: %s.", pid, reason)
                self.pair = pid, self.arbiter.spawn_worker()
                return

    def kill_worker(self, pid: int, number: int) -> None:
        """Send a signal to a worker. A worker ignores SIGTERM from others: see `use_master_signals`."""
        worker = self.arbiter.WORKERS.get(pid)
        if worker is not None and number in ENDING_SIGNALS:
            worker.contentapi_place.set(Field.MUST_RETIRE, 1)
        self.kill_as_gunicorn(pid, number)

    def receive_signal(self, number: int, frame: Any) -> None:
        """Queue a signal. While the server ends, another SIGTERM or SIGINT ends it at once."""
        if self.stopped_at and number in ENDING_SIGNALS:
            if time.monotonic() - self.stopped_at < SECOND_SIGNAL:
                return
            number = signal.SIGQUIT
        self.queue_as_gunicorn(number, frame)

    def stop(self, graceful: bool = True) -> None:  # noqa: FBT001, FBT002 - gunicorn's signature
        """Empty the listen queues, then end the workers."""
        self.stopped_at = time.monotonic()
        if graceful:
            graceful = self.empty_queues()
        left = ceil(get_shutdown_timeout() - (time.monotonic() - self.stopped_at))
        self.arbiter.cfg.set("graceful_timeout", max(1, left) if graceful else 1)
        self.stop_as_gunicorn(graceful)

    def empty_queues(self) -> bool:
        """Wait until the workers have accepted all connections. Return False after another signal.

        Sockets that another process continues to use (of systemd, or during an upgrade by SIGUSR2) are left alone.
        """
        arbiter = self.arbiter
        if arbiter.systemd or arbiter.reexec_pid or arbiter.master_pid:
            return True
        second_signals = []

        def must_stop() -> bool:
            arbiter.reap_workers()
            try:
                number = arbiter.SIG_QUEUE.get_nowait()
            except queue.Empty:
                return not arbiter.WORKERS
            if number in ENDING_SIGNALS:
                second_signals.append(number)
            return bool(second_signals)

        empty_queues(arbiter.LISTENERS, get_shutdown_timeout(), must_stop)
        return not second_signals


def get_shutdown_timeout() -> float:
    return derive_timeouts(conf.environment).shutdown


# --- Hooks, which `gunicorn_conf` calls


def supervise(arbiter: Any) -> None:
    """Add the supervision to an arbiter that starts."""
    arbiter.contentapi_supervision = supervision = Supervision(arbiter)
    supervision.install()


def prepare_worker(arbiter: Any, worker: Any) -> None:
    """Give a worker its place on the board, before the fork."""
    worker.contentapi_place = arbiter.contentapi_supervision.board.create_place()


def start_worker(worker: Any) -> None:
    """Start the heartbeat of this worker, which is ready to serve."""
    use_master_signals(worker)
    start_heartbeat(
        worker.contentapi_place,
        retire=lambda: None,  # gunicorn does it
        is_alive=lambda: time.monotonic() - worker.tmp.last_update() < MAIN_LOOP_TIMEOUT,
    )
    worker.contentapi_place.set(Field.IS_READY, 1)


def use_master_signals(worker: Any) -> None:
    """Ignore SIGINT, and SIGTERM that the master has not sent.

    A Ctrl-C in a terminal and a service manager can signal all processes. The master alone decides in which order they
    end.
    """

    def end(number: int, frame: Any) -> None:
        if worker.contentapi_place.get(Field.MUST_RETIRE):
            worker.handle_exit(number, frame)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, end)
    signal.siginterrupt(signal.SIGTERM, False)  # noqa: FBT003
