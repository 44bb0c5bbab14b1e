"""The watch over the workers of a master: a worker that hangs is killed, and an old one lets the master replace it.

A thread of each worker writes its process id into a pipe, as long as the worker makes progress. A worker whose
interpreter lock is held, or which is stopped, writes nothing. A thread of the master reads the pipe, and counts its own
steps since a worker wrote. It asks no clock, so that a time in which the whole server was suspended does not count.

The server's own master starts another worker for one that has ended, and replaces its workers after SIGHUP.
"""

import faulthandler
import logging
import os
import random
import signal
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from math import inf
from threading import Thread

import psutil

from contentapi.conf import conf, timeouts
from contentapi.server import systemd
from contentapi.server.worker import WORKER

JITTER = 0.1  # a worker's limit of requests is up to this part lower or higher, so that workers end at different times
GROWTH = 1.5  # a worker is not replaced before it has grown by half: a new one would be as large
DUMP_SIGNAL = signal.SIGUSR2  # a worker prints the stack of each thread, without the interpreter lock
PROCESS_ID = struct.Struct("i")

logger = logging.getLogger("contentapi.server")


class Watchdog:
    """The watch of one master. `silent` is the number of seconds since each worker wrote its process id."""

    def __init__(self) -> None:
        self.master = 0  # process id
        self.reader = self.writer = -1
        self.timeout = 0.0
        self.silent: dict[int, float] = {}
        self.seconds_left: float | None = None  # until the workers of a server that ends are killed
        self.on_ready: Callable[[], object] = lambda: None

    def start(self, on_ready: Callable[[], object] = lambda: None) -> None:
        """Watch the workers that this process will fork. `on_ready` is called when another worker can serve."""
        self.master = os.getpid()
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        os.set_blocking(self.writer, False)
        self.timeout = timeouts.derive_timeouts(conf.environment).worker
        self.on_ready = on_ready
        Thread(target=self.run, name="watchdog", daemon=True).start()

    def end_within(self, seconds: float) -> None:
        """Kill the workers that have not ended after some seconds, and watch no longer."""
        self.seconds_left = seconds

    def run(self) -> None:
        while True:
            time.sleep(timeouts.WATCHDOG_INTERVAL)
            heard = self.read()
            overdue = self.observe(heard)
            if heard:
                systemd.notify("WATCHDOG=1")  # a server whose workers all hang is silent
            for pid in overdue:
                kill_worker(pid)

    def read(self) -> set[int]:
        """Return the process ids in the pipe."""
        written = b""
        with suppress(BlockingIOError):
            while part := os.read(self.reader, 65536):
                written += part
        return {pid for (pid,) in PROCESS_ID.iter_unpack(written)}

    def observe(self, heard: set[int]) -> list[int]:
        """Count one step, in which some workers wrote. Return the process ids of the workers to kill."""
        if heard - self.silent.keys():
            self.on_ready()
        self.silent = {pid: seconds + timeouts.WATCHDOG_INTERVAL for pid, seconds in self.silent.items()}
        self.silent |= dict.fromkeys(heard, 0.0)
        longest, fault = self.timeout, f"it gave no sign of life for {self.timeout:.0f} s"
        if self.seconds_left is not None:
            self.seconds_left -= timeouts.WATCHDOG_INTERVAL
            longest, fault = -1.0 if self.seconds_left <= 0 else inf, "it did not end in time"
        overdue = [pid for pid, seconds in self.silent.items() if seconds > longest]
        for pid in overdue:
            del self.silent[pid]
        stuck = [pid for pid in overdue if is_worker(pid, self.master)]  # not one that has ended by itself
        for pid in stuck:
            logger.error("Killing worker %d: %s.", pid, fault)
        return stuck


WATCHDOG = Watchdog()


def is_worker(pid: int, master: int) -> bool:
    """Return whether a process is a child of the master: the system may have given the id to another process."""
    try:
        return psutil.Process(pid).ppid() == master
    except psutil.Error:
        return False


def kill_worker(pid: int) -> None:
    """Let a worker print its stacks, then kill it. A stopped process prints nothing."""
    with suppress(ProcessLookupError):
        os.kill(pid, DUMP_SIGNAL)
        time.sleep(timeouts.KILL_DELAY)
        os.kill(pid, signal.SIGKILL)


# --- In the worker


def start_heartbeat() -> None:
    """Report to the master from a thread of this worker, which is ready to serve."""
    faulthandler.register(DUMP_SIGNAL, file=sys.__stderr__ or sys.stderr, all_threads=True)
    report_life()
    Thread(target=run_heartbeat, name="heartbeat", daemon=True).start()


def report_life() -> None:
    with suppress(BlockingIOError):  # the master is suspended
        os.write(WATCHDOG.writer, PROCESS_ID.pack(os.getpid()))


def run_heartbeat() -> None:
    progress, limits = Progress(), Limits(read_memory())
    reason = ""
    while os.getppid() == WATCHDOG.master:
        if progress.is_made():
            report_life()
        if not reason and (reason := limits.find_end_of_life(WORKER.requests, read_memory())):
            logger.info("Replacing worker %d: %s.", os.getpid(), reason)
            os.kill(WATCHDOG.master, signal.SIGHUP)  # replaces all workers: the others are nearly as old
        time.sleep(timeouts.LIFE_SIGN_INTERVAL)
    # The master was killed. This worker would serve its clients for a long time, and hold the port of the next master.
    time.sleep(timeouts.ORPHAN_GRACE)
    os._exit(1)


class Progress:
    """Whether this worker still makes progress, in steps of its own.

    It makes none if all slots were in use and none was released for too long: its threads wait for each other, or for
    something without a time-out. Nor does a worker that takes too long to end.
    """

    def __init__(self) -> None:
        limits = timeouts.derive_timeouts(conf.environment)
        self.stall = limits.stall - limits.worker  # the master waits for the rest
        self.end = limits.shutdown + timeouts.LINGER
        self.released = -1
        self.stalled = self.retiring = 0.0

    def is_made(self) -> bool:
        """Count one step, and return whether the master may know of it."""
        self.retiring += timeouts.LIFE_SIGN_INTERVAL if WORKER.is_retiring else 0.0
        if WORKER.slots is not None:
            is_stalled = not WORKER.slots.unused and WORKER.slots.released == self.released
            self.released = WORKER.slots.released
            self.stalled = self.stalled + timeouts.LIFE_SIGN_INTERVAL if is_stalled else 0.0
        return self.stalled <= self.stall and self.retiring <= self.end


class Limits:
    """What a worker may reach before it is replaced. `memory` is a number of bytes, which a new worker uses."""

    def __init__(self, memory: int) -> None:
        environment = conf.environment
        part = random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 - not a secret
        self.requests = max(1, round(part * environment.contentapi_worker_max_requests))
        self.memory = max(environment.contentapi_worker_max_memory, round(GROWTH * memory))

    def find_end_of_life(self, requests: int, memory: int) -> str:
        """Return which limit the worker has reached, or an empty text."""
        served = f"it has served {requests} requests" if requests >= self.requests else ""
        return served or (f"it uses {memory / 1e6:.0f} MB of memory" if memory > self.memory else "")


def read_memory() -> int:
    """Return the resident memory of this process in bytes."""
    return int(psutil.Process().memory_info().rss)
