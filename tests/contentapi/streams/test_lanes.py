"""How groups of streams share the threads that read."""

import asyncio
import threading

import pytest

from contentapi.events.feed import LogState
from contentapi.streams.plans import Excerpt
from tests.contentapi.streams.hubs import World, get_text, run
from tests.contentapi.streams.plans import MemoryObject, MemoryPlan

pytestmark = pytest.mark.usefixtures("log_in_memory")


class HeldPlan(MemoryPlan):
    """A plan whose reads last until `ready`."""

    def __init__(self, name: str, ready: threading.Event) -> None:
        super().__init__(range(1, 9), name)
        self.ready = ready

    def read(self, log: LogState, after: int, end: int, rows: int = 0) -> Excerpt:
        result = super().read(log, after, end, rows or 8)
        assert self.ready.wait(60)
        return result


async def wait_for_reads(plan: MemoryPlan, number: int) -> None:
    async with asyncio.timeout(60):
        while len(plan.reads) < number:
            await asyncio.sleep(0.005)


def test_first_read_waits_for_no_group_that_reads_slowly() -> None:
    ready = threading.Event()

    async def work(world: World) -> None:
        slow = HeldPlan("slow", ready)
        await world.join(slow)
        ready.set()
        world.tell(1)
        await world.settle()
        (group,) = world.hub.groups.values()
        group.is_quick = False
        ready.clear()
        try:
            world.tell(2)
            await wait_for_reads(slow, 2)
            new = await world.join(MemoryObject([b"value "]))
            async with asyncio.timeout(60):
                while not get_text(new):
                    await asyncio.sleep(0.005)
        finally:
            ready.set()
        await world.settle()

    run(work)


def test_group_whose_streams_have_left_while_it_waited_does_not_read() -> None:
    ready = threading.Event()

    async def work(world: World) -> None:
        first, second = HeldPlan("first", ready), HeldPlan("second", ready)
        await world.join(first)
        left = await world.join(second)
        world.tell(1)
        try:
            await wait_for_reads(first, 1)
            world.hub.remove(left)
        finally:
            ready.set()
        await world.settle()
        await world.hub.readers.first.acquire()  # after all that have waited

        assert second.reads == []

    run(work)


def test_group_that_has_waited_reads_nothing_while_credentials_are_not_checked() -> None:
    ready = threading.Event()

    async def work(world: World) -> None:
        first, second = HeldPlan("first", ready), HeldPlan("second", ready)
        await world.join(first)
        await world.join(second)
        world.tell(1)
        try:
            await wait_for_reads(first, 1)
            world.hub.is_checked.clear()
        finally:
            ready.set()
        await asyncio.sleep(0.1)
        assert second.reads == []
        world.hub.is_checked.set()
        await world.settle()
        assert len(second.reads) == 1

    run(work)
