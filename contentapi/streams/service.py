"""The streams of this process: their hub, what runs beside it, and the life of one stream."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from time import monotonic

from contentapi.conf.timeouts import (
    STREAM_CHECK_INTERVAL,
    STREAM_CREDENTIAL_INTERVAL,
    STREAM_FOLLOW_INTERVAL,
    STREAM_KEEP_ALIVE,
    STREAM_STOP_LIMIT,
)
from contentapi.core.errors import ApiError, RateLimited, Unavailable
from contentapi.events.feed import LogState
from contentapi.health.results import OK, CheckResult, failed
from contentapi.monitoring.figures import FIGURES
from contentapi.rate_limits.account import charge_limits
from contentapi.streams.credentials import CredentialChecks
from contentapi.streams.follower import Follower
from contentapi.streams.groups import Readers
from contentapi.streams.hub import Hub, count_end
from contentapi.streams.opening import NOW, Opening
from contentapi.streams.plans import Batch
from contentapi.streams.requests import Receive, Send
from contentapi.streams.stream import Stream

LOG = logging.getLogger("contentapi.streams")
REQUEST_THREADS = 2  # which open streams and charge for events
EVENTS_PER_CHARGE = 100
LATE = 5 * STREAM_FOLLOW_INTERVAL  # without a look at the log


class StreamService:
    """Create it in the event loop, `start` it once, and `end` it."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.requests = Readers(REQUEST_THREADS, "requests")
        self.hub = Hub()
        self.checks = CredentialChecks(self.hub, Readers(1, "credentials"))
        self.follower = Follower(self.tell, self.check_credentials_now)
        self.is_ending = False
        self.part = 0  # of the streams, which got the last signs of life
        self.tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        FIGURES.gauge_sources.append(self.hub.measure)
        self.follower.thread.start()
        self.tasks = [
            self.loop.create_task(self.repeat(STREAM_CHECK_INTERVAL, self.check_limits)),
            self.loop.create_task(self.repeat(STREAM_CREDENTIAL_INTERVAL, self.checks.check)),
        ]

    async def end(self) -> None:
        """End all streams. Their clients come back to the next process."""
        self.is_ending = True
        self.follower.stop.set()
        self.hub.close_all("end")
        end = monotonic() + STREAM_STOP_LIMIT
        while self.hub.streams and monotonic() < end:
            await asyncio.sleep(STREAM_STOP_LIMIT / 100)
        for stream in [*self.hub.streams]:
            stream.cancel("end")
        for task in self.tasks:
            task.cancel()

    # --- The follower, which is another thread

    def tell(self, log: LogState, batch: Batch) -> None:
        self.loop.call_soon_threadsafe(self.hub.advance, log, batch)

    def check_credentials_now(self) -> bool:
        return asyncio.run_coroutine_threadsafe(self.checks.check(), self.loop).result()

    def inspect(self) -> CheckResult:
        """Return whether streams can be sent at present."""
        if self.is_ending:
            return failed("The process ends.")
        if not self.hub.is_checked.is_set():
            return failed("The credentials of the streams have not been checked since an outage.")
        if monotonic() - self.follower.seen_at > LATE:
            return failed("The log of events cannot be read.")
        return OK

    # --- What runs beside the streams

    async def repeat(self, interval: float, work: Callable[[], Awaitable[object]]) -> None:
        """Do something again and again. An error ends one round alone: streams depend on these checks."""
        while True:
            await asyncio.sleep(interval)
            try:
                await work()
            except Exception:
                LOG.exception("A check of the streams failed, and is repeated.")

    async def check_limits(self) -> None:
        # A stream that was not idle at its turn gets a sign of life at the next one at the latest.
        parts = int(STREAM_KEEP_ALIVE / 2 / STREAM_CHECK_INTERVAL)
        self.part = (self.part + 1) % parts
        self.hub.check()
        self.hub.keep_alive(self.part, parts)

    async def charge(self, stream: Stream) -> None:
        """Charge for the events that were sent. A client that has used up its limit comes back when it may."""
        units = (stream.sent - stream.charged) // EVENTS_PER_CHARGE
        if not units:
            return
        stream.charged += units * EVENTS_PER_CHARGE
        account = stream.opening.account
        try:
            await self.requests.run(partial(charge_limits, *account.limits, key=account.key, amount=units))
        except RateLimited:
            stream.close("rate")

    # --- One stream

    def refuse(self) -> ApiError | None:
        """Return why no stream can begin; None if it can."""
        return Unavailable() if self.is_ending or not self.hub.log.epoch else None

    async def run(self, opening: Opening, receive: Receive, send: Send) -> None:
        """Send a stream until it ends. The response has begun."""
        if opening.position == NOW:
            opening.position, opening.epoch = self.hub.log.position, self.hub.log.epoch
        stream = Stream(opening)
        self.hub.streams.add(stream)
        if self.is_ending or opening.epoch != self.hub.log.epoch:  # since it was opened: the client comes back
            stream.close("end")
        watching = self.loop.create_task(watch_client(receive, stream))
        try:
            with suppress(asyncio.CancelledError):  # see `Stream.close`
                await self.write(stream, send)
        finally:
            watching.cancel()
            self.hub.remove(stream)
            count_end(stream)

    async def write(self, stream: Stream, send: Send) -> None:
        async def write() -> None:
            await stream.write(send)
            await charge()

        charge = partial(self.charge, stream)
        stream.add(stream.opening.plan.format.begin(self.hub.get_cursor(stream)), 0)
        await write()
        await self.hub.join(stream, partial(stream.write, send), charge)
        await stream.write_forever(write)
        if stream.reason != "client":
            await send({"type": "http.response.body", "body": stream.final, "more_body": False})


async def watch_client(receive: Receive, stream: Stream) -> None:
    """Wait until the client has gone. Without this, writes to a client that has gone would seem to succeed."""
    while (await receive())["type"] != "http.disconnect":
        pass
    stream.close("client")
