"""The master process of granian: starts workers, watches them, replaces them, and ends them without losing a request.

granian's own master gives each worker a listening socket, whose queue is lost with the worker, and does not notice a
worker that hangs. This one opens one socket for all workers, and watches them by `contentapi.server.worker_board`. It
needs Linux; on other systems granian's own master is used.

A worker is replaced in this order: the new one is ready; the old one stops accepting connections, closes each kept
connection with its next response, and after `LINGER` seconds the idle ones; it ends after its last response.
"""

import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any
from wsgiref.types import WSGIApplication

import psutil
from granian import _signals
from granian._granian import SocketHolder
from granian.log import logger
from granian.server.mp import MPServer

from contentapi.conf import conf
from contentapi.conf.timeouts import derive_timeouts
from contentapi.server.listen_queue import empty_queues, stop_accepting
from contentapi.server.worker_board import (
    BEAT,
    Field,
    Place,
    WorkerBoard,
    WorkerWatch,
    kill_stuck_worker,
    start_heartbeat,
)

TICK = 0.25  # seconds between two looks at the workers
PEER_TIMEOUT = 60  # seconds, after which the kernel closes the connection of a client that vanished or does not read
LINGER = 6.0  # seconds: longer than granian keeps an idle connection
SHORT_LINGER = 2.0  # seconds, when the server ends
DELAYS = (0.0, 1.0, 2.0, 5.0, 10.0)  # seconds before a worker is started again that ended before it was ready
SLOWLY, SOON = 1, 2  # values of Field.MUST_RETIRE
RETIRE_SIGNAL = signal.SIGUSR1  # from a worker to itself
SECOND_SIGNAL = 1.0  # seconds after which another signal ends the server at once; two programs may send the first one
LAST_START = 3  # failed starts in a row after which the server ends, if no worker was ever ready


@dataclass
class Managed:
    """A worker process. `retiring` is the number of seconds since it had to end, or None."""

    number: int
    process: multiprocessing.Process
    watch: WorkerWatch
    retiring: float | None = None

    @property
    def pid(self) -> int:
        return self.process.pid or 0

    def retire(self, manner: int) -> None:
        self.retiring = 0.0
        self.watch.place.set(Field.MUST_RETIRE, manner)


class Master(MPServer):
    """granian's master with one listening socket and a watch over the workers."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.board = WorkerBoard()
        self.timeouts = derive_timeouts(conf.environment)
        self.current: dict[int, Managed] = {}
        self.successors: dict[int, Managed] = {}  # of current workers, until they are ready
        self.retired: list[Managed] = []
        self.failures: dict[int, int] = {}  # starts in a row that failed
        self.waits: dict[int, float] = {}  # seconds until a worker is started again
        self.was_ready = False
        self.interrupted_at = 0.0
        self.must_end_at_once = False
        self.start_worker: Callable[[int], Managed]

    # --- The listening socket

    def _init_shared_socket(self) -> None:
        """Open the listening socket, which the workers inherit. Exits with a message if this is not possible."""
        try:
            self.listener = self.open_listener()
        except OSError as error:
            raise SystemExit(f"Cannot listen on {self._bind_addr_fmt}: {error.strerror}.") from None
        self._sso, self._ssp = self.listener, None
        self._shd: Any = SocketHolder(self.listener.fileno(), uds=False, backlog=self.backlog)  # type: ignore[call-arg]

    def open_listener(self) -> socket.socket:
        address = socket.getaddrinfo(self.bind_addr, self.bind_port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(address[0], socket.SOCK_STREAM)
        # A server of the next release may listen on the same port before this one ends.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        set_connection_options(listener)
        listener.bind(address[4])
        listener.listen(self.backlog)
        listener.setblocking(False)  # noqa: FBT003
        listener.set_inheritable(True)
        return listener

    def _drop_shared_socket(self) -> None:
        """Keep the socket open: `_stop_workers` closes it when its queue is empty."""

    # --- Starting

    def _spawn_workers(self, spawn_target: Any, target_loader: Any) -> None:
        self.start_worker = partial(self.launch, spawn_target, target_loader)
        for number in range(self.workers):
            self.current[number] = self.start_worker(number)

    def launch(self, spawn_target: Any, target_loader: Any, number: int) -> Managed:
        place = self.board.create_place()
        target = partial(run_worker, spawn_target, place, self.listener)
        worker = super()._spawn_worker(idx=number, target=target, callback_loader=target_loader)
        worker.inner.start()  # not `worker.start()`: it starts a thread that waits for the process
        logger.info(f"Started worker {worker.inner.pid}")
        return Managed(number, worker.inner, WorkerWatch(place))

    # --- Watching

    def signal_handler_interrupt(self, *_: Any, **__: Any) -> None:
        """Handle SIGINT and SIGTERM."""
        now = time.monotonic()
        self.interrupted_at = self.interrupted_at or now
        self.must_end_at_once = now - self.interrupted_at > SECOND_SIGNAL
        self.interrupt_signal = True
        self.main_loop_interrupt.set()

    def _serve_loop(self, *_: Any) -> None:
        before = time.monotonic()
        while not self.interrupt_signal:
            self.main_loop_interrupt.wait(TICK)
            self.main_loop_interrupt.clear()
            now = time.monotonic()
            if not self.interrupt_signal and not self.supervise(now - before):
                break
            before = now

    def supervise(self, step: float) -> bool:
        """Look at all workers. Return False if the server cannot start."""
        if self.reload_signal:
            self.reload_signal = False
            logger.info("SIGHUP received: each worker is replaced.")
            for each in self.current.values():
                each.watch.limits.requests = 0
        for each in self.list_workers():
            each.watch.observe(step)
            fault = each.watch.find_fault()
            if fault and each.process.is_alive():
                logger.error(f"Killing worker {each.pid}: {fault}.")
                kill_stuck_worker(each.pid)
                each.process.join(1)
        self.promote_successors()
        self.end_retired(step)
        self.replace_ended(step)
        self.replace_old()
        return self.was_ready or max(self.failures.values(), default=0) < LAST_START

    def list_workers(self) -> list[Managed]:
        return [*self.current.values(), *self.successors.values(), *self.retired]

    def promote_successors(self) -> None:
        """Let each old worker end whose successor is ready."""
        for number, successor in [*self.successors.items()]:
            if not successor.process.is_alive():
                del self.successors[number]
                self.note_failed_start(successor)
            elif successor.watch.is_ready:
                del self.successors[number]
                old, self.current[number] = self.current[number], successor
                old.retire(SLOWLY)
                self.retired.append(old)

    def end_retired(self, step: float) -> None:
        """Forget workers that have ended, and kill those that take too long."""
        for each in [*self.retired]:
            each.retiring = (each.retiring or 0.0) + min(step, 1.0)
            if not each.process.is_alive():
                self.retired.remove(each)
                logger.info(f"Worker {each.pid} has ended")
            elif each.retiring > LINGER + self.timeouts.shutdown:
                logger.warning(f"Killing worker {each.pid}: it did not end within {self.timeouts.shutdown:.0f} s.")
                each.process.kill()

    def replace_ended(self, step: float) -> None:
        """Start a new worker for each worker that has ended unexpectedly."""
        for number, worker in [*self.current.items()]:
            if worker.process.is_alive():
                if worker.watch.is_ready:
                    self.was_ready = True
                    if worker.watch.age > DELAYS[-1]:
                        self.failures.pop(number, None)
                continue
            if number not in self.waits:
                logger.error(f"Worker {worker.pid} ended unexpectedly ({describe_exit(worker.process.exitcode)}).")
                if not worker.watch.is_ready:
                    self.note_failed_start(worker)
                failures = self.failures.get(number, 0)
                self.waits[number] = DELAYS[min(failures, len(DELAYS) - 1)]
            self.waits[number] -= step
            if self.waits[number] <= 0:
                del self.waits[number]
                successor = self.successors.pop(number) if number in self.successors else self.start_worker(number)
                self.current[number] = successor

    def note_failed_start(self, worker: Managed) -> None:
        self.failures[worker.number] = self.failures.get(worker.number, 0) + 1

    def replace_old(self) -> None:
        """Start the successor of a worker that has reached a limit, of one at a time."""
        if self.successors or len(self.retired) >= self.workers:
            return
        for number, worker in self.current.items():
            reason = worker.watch.find_end_of_life(worker.pid) if worker.process.is_alive() else None
            failures = self.failures.get(number, 0)
            if reason and worker.watch.age >= 2 * DELAYS[min(failures, len(DELAYS) - 1)]:
                logger.info(f"Replacing worker {worker.pid}: {reason}.")
                worker.watch.age = 0.0
                self.successors[number] = self.start_worker(number)
                return

    # --- Ending

    def _stop_workers(self) -> None:
        """Empty the listen queue, then let all workers end. A second signal ends them at once."""
        deadline = time.monotonic() + self.timeouts.shutdown
        workers = self.list_workers()
        if any(each.process.is_alive() for each in workers):
            empty_queues(
                [self.listener],
                self.timeouts.shutdown,
                lambda: self.must_end_at_once or not any(each.process.is_alive() for each in workers),
            )
        for each in workers:
            each.retire(SOON)
        self.listener.close()
        while any(each.process.is_alive() for each in workers):
            if time.monotonic() > deadline or self.must_end_at_once:
                break
            time.sleep(0.02)
        for each in workers:
            if each.process.is_alive():
                logger.warning(f"Killing worker {each.pid}: it did not end in time.")
                each.process.kill()
            each.process.join()
        if not self.was_ready and not self.interrupt_signal:
            self.interrupt_children.append(0)  # the exit status is 1


def describe_exit(code: int | None) -> str:
    return signal.Signals(-code).name if code is not None and code < 0 else f"exit status {code}"


def set_connection_options(listener: socket.socket) -> None:
    """Make the kernel close the connections of clients that have vanished, or never read their response.

    Without this, a client that loses its network while it sends a body keeps a thread for ever. Connections inherit
    the options of the listening socket.
    """
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, PEER_TIMEOUT // 2)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, PEER_TIMEOUT * 1000)


# --- In the worker


def run_worker(serve: Callable[..., None], place: Place, listener: socket.socket, *arguments: Any) -> None:
    """Serve until the worker must end. `serve` is granian's function with these arguments."""
    _signals.set_main_signals = use_retire_signal
    start_heartbeat(place, partial(retire_worker, place, listener))
    number, name, load, *others = arguments
    serve(number, name, partial(load_application, load, place), *others)


def use_retire_signal(end: Callable[..., None], *_: Any) -> None:
    """Let only `RETIRE_SIGNAL` end this worker, by the function `end`.

    A Ctrl-C in a terminal and a service manager can signal all processes. The master alone decides in which order they
    end.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(RETIRE_SIGNAL, end)


def load_application(load: Callable[[], WSGIApplication], place: Place) -> WSGIApplication:
    application = load()
    place.set(Field.IS_READY, 1)
    return application


def retire_worker(place: Place, listener: socket.socket) -> None:
    """Stop accepting connections, wait until kept connections are closed, then end after the last response."""
    if not place.get(Field.MUST_RETIRE):  # the master has ended without notice to the workers
        empty_queues([listener], LINGER, lambda: False)
        place.set(Field.MUST_RETIRE, SOON)
    port = listener.getsockname()[1]
    stop_accepting(listener)
    lingered = 0.0
    while lingered < (SHORT_LINGER if place.get(Field.MUST_RETIRE) == SOON else LINGER) and has_connections(port):
        time.sleep(BEAT)
        lingered += BEAT
    os.kill(os.getpid(), RETIRE_SIGNAL)


def has_connections(port: int) -> bool:
    """Return whether this process has a connection that it accepted on a port."""
    with suppress(psutil.Error, OSError):
        found = psutil.Process().net_connections("tcp")
        return any(each.status == psutil.CONN_ESTABLISHED and each.laddr.port == port for each in found)
    return True
