"""One stream: what waits for its client, and the task that writes it.

All of this runs in the event loop, so that nothing needs a lock. A stream has no timer of its own: the hub
looks at all of them from time to time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import uniform
from time import monotonic
from typing import Any, Literal

from contentapi.conf.timeouts import STREAM_LIFETIME, STREAM_WRITE_LIMIT
from contentapi.core.errors import ApiError, EventsExpired, Internal, to_api_error
from contentapi.graphql.documents import DocumentRejected
from contentapi.streams.opening import Opening, describe_error

LOG = logging.getLogger("contentapi.streams")
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Reason = Literal["client", "slow", "lifetime", "credential", "rate", "error", "expired", "end"]
AT_ONCE: tuple[Reason, ...] = ("client", "slow", "credential")

MOST_EVENTS = 256  # that wait for a client
MOST_BYTES = 1024 * 1024
PIECE = 64 * 1024  # bytes that are written at once: what waits is shared by streams, and what is written is a copy
JITTER = 0.1  # of the lifetime, so that clients do not come back together


class Stream:
    """A client with an open response. `charge` makes it pay for what was sent."""

    def __init__(self, opening: Opening, send: Send, charge: Callable[[Stream], Awaitable[None]]) -> None:
        self.opening = opening
        self.send = send
        self.charge = charge
        self.position = opening.position  # of the last event that it has, or has left out
        self.digest = b""  # of the last value of an object
        self.waiting: list[tuple[bytes, int]] = []  # with the numbers of events
        self.unpaid = 0  # events that were sent
        self.has_changed = asyncio.Event()
        self.task: asyncio.Task[Any] = asyncio.current_task()  # type: ignore[assignment]
        self.write_began = 0.0  # 0: no write waits
        self.deadline = monotonic() + STREAM_LIFETIME * uniform(1 - JITTER, 1)  # noqa: S311 - a delay
        self.reason: Reason | None = None  # set when it ends
        self.final = b""  # what is written before the end
        self.added_at = monotonic()  # when something was added last

    # --- What happens to it

    def add(self, content: bytes, events: int) -> None:
        """Let bytes wait for the client. If too much waits, the stream ends: the client resumes by its cursor."""
        if self.reason is not None:
            return
        size = sum(len(each) for each, _ in self.waiting) + len(content)
        if self.waiting and (size > MOST_BYTES or sum(number for _, number in self.waiting) + events > MOST_EVENTS):
            self.close("slow")
            return
        self.waiting.append((content, events))
        self.added_at = monotonic()
        self.has_changed.set()

    def close(self, reason: Reason, final: bytes = b"") -> None:
        """End the stream. What waits is still written, unless nobody reads it, or nobody may read it any more."""
        if self.reason in AT_ONCE or (self.reason is not None and reason not in AT_ONCE):
            return
        self.reason, self.final = reason, final
        self.has_changed.set()
        if reason in AT_ONCE:
            self.waiting.clear()
            self.task.cancel()

    def fail(self, error: Exception) -> None:
        """End the stream because of an error. A client of GraphQL gets it."""
        format_ = self.opening.plan.format
        known = error if isinstance(error, DocumentRejected) else to_api_error(error)
        if isinstance(known, ApiError) and known.status == Internal.status:
            LOG.error("A stream has failed.", exc_info=error)
        final = format_.frame(describe_error(known).body) + format_.end if format_.end else b""
        self.close("expired" if isinstance(error, EventsExpired) else "error", final)

    def check(self, now: float) -> None:
        """End the stream if a write waits for too long, or at the end of its life."""
        if self.write_began and now - self.write_began > STREAM_WRITE_LIMIT:
            self.close("slow")
        elif now > self.deadline:
            self.close("lifetime")

    # --- Writing

    async def write_waiting(self) -> None:
        """Write what waits, and wait until the server has taken it."""
        while self.waiting:
            content, events = self.waiting.pop(0)
            self.unpaid += events
            for begin in range(0, len(content), PIECE):
                await self.write(content if len(content) <= PIECE else content[begin : begin + PIECE])
        await self.charge(self)

    async def write(self, piece: bytes, *, is_last: bool = False) -> None:
        self.write_began = monotonic()
        await self.send({"type": "http.response.body", "body": piece, "more_body": not is_last})
        self.write_began = 0.0

    async def run(self, join: Callable[[Stream], Awaitable[None]]) -> None:
        """Write until the stream ends. `close` cancels this, also in the midst of a write."""
        try:
            await self.write_waiting()
            await join(self)
            while self.waiting or self.reason is None:
                if self.waiting:
                    await self.write_waiting()
                else:
                    self.has_changed.clear()
                    await self.has_changed.wait()
        except asyncio.CancelledError:
            if self.write_began or self.reason == "client":
                return
        with suppress(asyncio.CancelledError):
            await self.write(self.final, is_last=True)
