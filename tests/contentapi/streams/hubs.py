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
from contentapi.streams.stream import Message, Stream
from tests.contentapi.streams.plans import make_batch, make_opening, make_stream


class World:
    """A hub, and what each of its streams has been given."""

    def __init__(self) -> None:
        self.hub = Hub()
        self.written: dict[Stream, bytes] = {}
        self.tell(0)

    def tell(self, position: int, *, epoch: str = "e", subjects: tuple[int, ...] = (7,)) -> None:
        self.hub.advance(LogState(epoch, position, 0), make_batch(position, subjects=subjects))

    def make_stream(self, plan: Plan, position: int = 0) -> Stream:
        async def send(message: Message) -> None:
            self.written[stream] += message["body"]

        stream = make_stream(make_opening(plan, position=position), send)
        self.written[stream] = b""
        self.hub.streams.add(stream)
        return stream

    async def join(self, plan: Plan, position: int = 0) -> Stream:
        stream = self.make_stream(plan, position)
        await self.hub.join(stream)
        return stream

    def get_text(self, stream: Stream) -> str:
        """Return what was written and what waits."""
        return (self.written[stream] + b"".join(content for content, _ in stream.waiting)).decode()

    async def get_stuck(self, plan: Plan, position: int) -> tuple[Stream, asyncio.Task[None]]:
        """Return a stream that waits for a turn to read, and the task that lets it join."""
        for _ in range(hub.RESUMED_READERS):
            await self.hub.turns.acquire()

        async def join() -> None:
            streams.append(self.make_stream(plan, position))
            await self.hub.join(streams[0])

        streams: list[Stream] = []
        task = asyncio.create_task(join())
        await asyncio.sleep(0.01)
        return streams[0], task

    async def settle(self) -> None:
        """Wait until no group reads."""
        async with asyncio.timeout(60):
            while any(group.task for group in self.hub.groups.values()):
                await asyncio.sleep(0.005)


def run(work: Callable[[World], Awaitable[None]]) -> None:
    async def main() -> None:
        await work(World())

    asyncio.run(main())


def build_late_error() -> OperationalError:
    error = OperationalError("canceling statement")
    error.__cause__ = QueryCanceled("canceling statement")
    return error
