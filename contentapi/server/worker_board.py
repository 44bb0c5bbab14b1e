"""Shared memory in which the workers report to the master, and the watch over them.

The master creates the board before it forks a worker. Each worker has one place on it. Its heartbeat thread increments
`beats`; a worker whose interpreter lock is held, or which is stopped, does not. The master counts the time without a
beat by the steps of its own loop, not by a clock. A step counts at most `LONGEST_STEP`, so a time in which the master
or the whole machine was suspended does not count.
"""

import faulthandler
import logging
import mmap
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from threading import Thread

import psutil

from contentapi.conf import conf
from contentapi.conf.timeouts import derive_timeouts
from contentapi.server.worker import WORKER

BEAT = 0.25  # seconds between two beats
LONGEST_STEP = 1.0  # seconds
START_TIMEOUT = 60.0  # seconds in which a new worker must be ready
JITTER = 0.1  # a worker's limit of requests is up to this part lower or higher, so that workers end at different times
GROWTH = 1.5  # a worker is not replaced before it has grown by half: a new one would be as large
PLACES = 512
FIELDS = 4  # of a place: 8 bytes each, written by one process
DUMP_SIGNAL = signal.SIGUSR2  # a worker prints the stack of each thread, without the interpreter lock
STALL_STATUS = 70  # the exit status of a worker that ends itself

logger = logging.getLogger(__name__)


class Field(IntEnum):
    BEATS, REQUESTS, IS_READY, MUST_RETIRE = range(FIELDS)


class Place:
    """The place of one worker on the board."""

    def __init__(self, words: memoryview, number: int) -> None:
        self.words = words[number * FIELDS : (number + 1) * FIELDS]
        for each in Field:
            self.words[each] = 0

    def get(self, name: Field) -> int:
        return int(self.words[name])

    def set(self, name: Field, value: int) -> None:
        self.words[name] = value


class WorkerBoard:
    """Places for the workers of one master, in memory that forked processes share."""

    def __init__(self) -> None:
        self.words = memoryview(mmap.mmap(-1, 8 * FIELDS * PLACES)).cast("Q")
        self.taken = 0

    def create_place(self) -> Place:
        """Return an empty place. A place is used again after `PLACES` workers."""
        self.taken += 1
        return Place(self.words, self.taken % PLACES)


def start_heartbeat(place: Place, retire: Callable[[], None], is_alive: Callable[[], bool] = lambda: True) -> None:
    """Report to the master from a thread of this worker, as long as `is_alive` returns True.

    `retire` is called, in a thread, when the worker must end.
    """
    if hasattr(faulthandler, "register"):
        faulthandler.register(DUMP_SIGNAL, file=sys.__stderr__ or sys.stderr, all_threads=True)
    Thread(target=run_heartbeat, args=(place, os.getppid(), retire, is_alive), name="heartbeat", daemon=True).start()


def run_heartbeat(place: Place, master: int, retire: Callable[[], None], is_alive: Callable[[], bool]) -> None:
    stall = StallDetector(derive_timeouts(conf.environment).stall)
    while True:
        place.set(Field.BEATS, place.get(Field.BEATS) + is_alive())
        place.set(Field.REQUESTS, WORKER.requests)
        stall.observe()
        if not WORKER.is_retiring and (place.get(Field.MUST_RETIRE) or os.getppid() != master):
            WORKER.is_retiring = True
            Thread(target=retire, name="retire", daemon=True).start()
        time.sleep(BEAT)


class StallDetector:
    """Ends the process when all slots were in use, and none was released, for `limit` seconds of its own steps.

    Such a worker can serve no request: its threads wait for each other, or for something without a time-out.
    """

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.released = -1
        self.stalled = 0.0

    def observe(self) -> None:
        slots = WORKER.slots
        if slots is None:
            return
        is_stalled = slots.are_exhausted and slots.released == self.released
        self.released = slots.released
        self.stalled = self.stalled + BEAT if is_stalled else 0.0
        if self.stalled > self.limit:
            logger.critical("No request of this worker has ended for %.0f s. The worker is replaced.", self.limit)
            faulthandler.dump_traceback(sys.__stderr__ or sys.stderr, all_threads=True)
            os._exit(STALL_STATUS)


@dataclass
class Limits:
    """What a worker may reach before it is replaced."""

    requests: int
    memory: int  # bytes


def choose_limits() -> Limits:
    """Return the limits of a new worker, with some jitter."""
    part = random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 - not a secret
    environment = conf.environment
    return Limits(
        requests=max(1, round(part * environment.contentapi_worker_max_requests)),
        memory=environment.contentapi_worker_max_memory,
    )


class WorkerWatch:
    """The master's watch over one worker. Call `observe` at each step of the master's loop."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.limits = choose_limits()
        self.timeout = derive_timeouts(conf.environment).worker
        self.beats = 0
        self.silent = 0.0  # seconds without a beat
        self.age = 0.0  # seconds
        self.first_memory = 0  # bytes, when the worker was ready

    @property
    def is_ready(self) -> bool:
        return bool(self.place.get(Field.IS_READY))

    def observe(self, step: float) -> None:
        """Count a step of the master's loop, of this number of seconds."""
        step = min(step, LONGEST_STEP)
        beats = self.place.get(Field.BEATS)
        self.silent = self.silent + step if beats == self.beats else 0.0
        self.beats = beats
        self.age += step

    def find_fault(self) -> str | None:
        """Return why the worker must be killed, or None."""
        if self.silent > self.timeout:
            return f"it gave no sign of life for {self.timeout:.0f} s"
        if not self.is_ready and self.age > START_TIMEOUT:
            return f"it did not start within {START_TIMEOUT:.0f} s"
        return None

    def find_end_of_life(self, pid: int) -> str | None:
        """Return which limit the worker has reached, or None."""
        if not self.is_ready:
            return None
        requests = self.place.get(Field.REQUESTS)
        if requests >= self.limits.requests:
            return f"it has served {requests} requests"
        memory = read_memory(pid)
        if not self.first_memory:
            self.first_memory = memory
        if memory > max(self.limits.memory, GROWTH * self.first_memory):
            return f"it uses {memory / 1e6:.0f} MB of memory"
        return None


def read_memory(pid: int) -> int:
    """Return the resident memory of a process in bytes, or 0 if the process has ended."""
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


def kill_stuck_worker(pid: int) -> None:
    """Let a worker print its stacks, then kill it. A stopped process prints nothing."""
    try:
        os.kill(pid, DUMP_SIGNAL)
        time.sleep(0.5)
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
