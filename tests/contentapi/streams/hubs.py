"""A hub whose streams are read from memory, so that each read is known."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from django.db import OperationalError
from psycopg.errors import QueryCanceled

from contentapi.events.feed import LogState
from contentapi.streams import hub
from contentapi.streams.hub import Hub
from contentapi.streams.plans import Plan
from contentapi.streams.stream import Stream
from tests.contentapi.streams.plans import make_batch, make_opening


class World:
    """A hub, and what each of its streams has been given."""

    def __init__(self) -> None:
        self.hub = Hub()
        self.tell(0)

    def tell(self, position: int, *, epoch: str = "e", subjects: tuple[int, ...] = (7,)) -> None:
        self.hub.advance(LogState(epoch, position, 0), make_batch(position, subjects=subjects))

    async def join(self, plan: Plan, position: int = 0) -> Stream:
        stream = Stream(make_opening(plan, position=position))
        self.hub.streams.add(stream)

        await self.hub.join(stream, leave_unwritten)
        return stream

    async def get_stuck(self, plan: Plan, position: int) -> tuple[Stream, asyncio.Task[None]]:
        """Return a stream that waits for a turn to read, and the task that lets it join."""
        stream = Stream(make_opening(plan, position=position))
        self.hub.streams.add(stream)
        for _ in range(hub.RESUMED_READERS):
            await self.hub.turns.acquire()

        task = asyncio.create_task(self.hub.join(stream, leave_unwritten))
        await asyncio.sleep(0.01)
        return stream, task

    async def settle(self) -> None:
        """Wait until no group reads."""
        async with asyncio.timeout(60):
            while any(group.task for group in self.hub.groups.values()):
                await asyncio.sleep(0.005)


async def leave_unwritten() -> None:
    """Leave everything where the test finds it."""


def run(work: Callable[[World], Awaitable[None]]) -> None:
    async def main() -> None:
        await work(World())

    asyncio.run(main())


def build_late_error() -> OperationalError:
    error = OperationalError("canceling statement")
    error.__cause__ = QueryCanceled("canceling statement")
    return error


def get_text(stream: Stream) -> str:
    return b"".join(content for content, _ in stream.waiting).decode()
