"""The streams of this process: what follows the log, what runs beside the streams, and the life of one of them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Any

import psycopg

from contentapi.auth.authentication import HEADERS, authenticate_request, load_function
from contentapi.conf import timeouts
from contentapi.core.errors import ApiError, RateLimited, Unavailable
from contentapi.core.identity import Actor
from contentapi.events.feed import LogState
from contentapi.health.results import OK, CheckResult, failed
from contentapi.http.response import PREVIEW_TOKEN
from contentapi.monitoring.figures import FIGURES
from contentapi.rate_limits.account import charge_limits
from contentapi.streams.follower import OUTAGES, Batch, Follower, Readers
from contentapi.streams.hub import Hub
from contentapi.streams.opening import NOW, Credential, Opening
from contentapi.streams.stream import Receive, Send, Stream

LOG = logging.getLogger("contentapi.streams")
REQUEST_THREADS = 2  # which open streams and charge for events
EVENTS_PER_CHARGE = 100
LATE = 5 * timeouts.STREAM_FOLLOW_INTERVAL  # without a look at the log


class StreamService:
    """Create it in the event loop, `start` it once, and `end` it."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.requests = Readers(REQUEST_THREADS, "requests")
        self.checks = Readers(1, "credentials")
        self.follower = Follower()
        self.hub = Hub()
        self.is_ending = False
        self.seen_at = float("-inf")  # the time of the last look at the log, by the monotonic clock
        self.tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        FIGURES.gauge_sources.append(self.hub.measure)
        self.tasks = [
            self.loop.create_task(self.follow()),
            self.loop.create_task(self.repeat(timeouts.STREAM_CHECK_INTERVAL, self.hub.check)),
            self.loop.create_task(self.repeat(timeouts.STREAM_CREDENTIAL_INTERVAL, self.check_credentials)),
        ]

    async def end(self) -> None:
        """End all streams. Their clients come back to the next process."""
        self.is_ending = True
        for stream in [*self.hub.streams]:
            stream.close("end")
        end = monotonic() + timeouts.STREAM_STOP_LIMIT
        while self.hub.streams and monotonic() < end:
            await asyncio.sleep(timeouts.STREAM_STOP_LIMIT / 100)
        for stream in [*self.hub.streams]:
            stream.close("slow")

    def inspect(self) -> CheckResult:
        """Return whether streams can be sent at present."""
        if self.is_ending:
            return failed("The process ends.")
        if not self.hub.is_checked.is_set():
            return failed("The credentials of the streams have not been checked since an outage.")
        if monotonic() - self.seen_at > LATE:
            return failed("The log of events cannot be read.")
        return OK

    # --- What runs beside the streams

    async def follow(self) -> None:
        """Pass on all batches of the log, through all outages of the database. Log each outage once."""
        is_away = False
        while True:
            try:
                log, batch = await self.follower.run(self.follower.read_next, self.hub.log)
                await self.pass_on(log, batch, must_check=is_away)
            except Exception as error:
                if not isinstance(error, (*OUTAGES, psycopg.Error)):
                    LOG.exception("The follower of the log failed, and begins again.")
                elif not is_away:
                    LOG.warning("The log of events cannot be read, and streams wait: %s", str(error).strip())
                    is_away = True
                await asyncio.sleep(timeouts.STREAM_RETRY_INTERVAL)
                continue
            if is_away:
                LOG.info("The log of events can be read again.")
            is_away = False

    async def pass_on(self, log: LogState, batch: Batch, *, must_check: bool) -> None:
        """Pass a batch to the streams. The stream of a locked user gets no later event."""
        must_check = must_check or any(name.startswith("user.") for name in batch.types)
        while must_check and not await self.check_credentials():
            await asyncio.sleep(timeouts.STREAM_RETRY_INTERVAL)
        self.hub.advance(log, batch)
        self.seen_at = monotonic()

    async def repeat(self, interval: float, work: Callable[[], Awaitable[object]]) -> None:
        """Do something again and again. An error ends one round alone: streams depend on these checks."""
        while True:
            await asyncio.sleep(interval)
            try:
                await work()
            except Exception:
                LOG.exception("A check of the streams failed, and is repeated.")

    async def check_credentials(self) -> bool:
        """End the streams whose actor is another one now. Return False if that cannot be known at present.

        A revoked key, a deleted or locked user, a token that has expired: the credential is not valid any more. A new
        role or other scopes: the actor is another one. The client comes back, and gets 401 or its new rights.
        """
        streams = [stream for stream in self.hub.streams if stream.opening.credential]
        credentials = [*{stream.opening.credential for stream in streams}]
        try:
            actors = await self.checks.run(find_actors, credentials) if credentials else []
        except Exception as error:
            self.hub.is_checked.clear()  # nothing is sent on rights that cannot be checked
            if isinstance(error, OUTAGES):
                return False
            raise
        self.hub.is_checked.set()
        present = dict(zip(credentials, actors, strict=True))
        for stream in streams:
            if present[stream.opening.credential] != stream.opening.actor:
                stream.close("credential")
        return True

    async def charge(self, stream: Stream) -> None:
        """Charge for the events that were sent. A client that has used up its limit comes back when it may."""
        units, stream.unpaid = divmod(stream.unpaid, EVENTS_PER_CHARGE)
        if not units:
            return
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
        stream = Stream(opening, send, self.charge)
        if self.is_ending or opening.epoch != self.hub.log.epoch:  # since it was opened: the client comes back
            stream.close("end")
        stream.add(opening.plan.format.begin(self.hub.get_cursor(stream)), 0)
        self.hub.streams.add(stream)
        watching = self.loop.create_task(watch_client(receive, stream))
        try:
            await stream.run(self.hub.join)
        finally:
            watching.cancel()
            self.hub.remove(stream)
            FIGURES.count("contentapi_streams_closed_total", stream.reason or "client")


async def watch_client(receive: Receive, stream: Stream) -> None:
    """Wait until the client has gone. Without this, writes to a client that has gone would seem to succeed."""
    while (await receive())["type"] != "http.disconnect":
        pass
    stream.close("client")


def find_actors(credentials: Sequence[Credential]) -> list[Actor | None]:
    """Return the present actors. Raises Django's database errors."""
    environs: list[Mapping[str, Any]] = [dict(credential) for credential in credentials]
    plain = [environ for environ in environs if PREVIEW_TOKEN not in environ]
    headers = [{name: environ[key] for name, key in HEADERS.items() if key in environ} for environ in plain]
    found = iter(load_function("AUTHENTICATE_AGAIN")(headers))
    return [find_preview_actor(environ) if PREVIEW_TOKEN in environ else next(found) for environ in environs]


def find_preview_actor(environ: Mapping[str, Any]) -> Actor | None:
    try:
        return authenticate_request(environ)
    except Unavailable:
        raise
    except ApiError:
        return None
