"""Groups that wait: for the end of an error, for a thread, and for a check of credentials."""

import asyncio
import threading

import pytest

from contentapi.events.feed import LogState
from contentapi.streams import hub
from contentapi.streams.plans import Excerpt
from tests.contentapi.streams.hubs import World, run
from tests.contentapi.streams.plans import MemoryPlan


class HeldPlan(MemoryPlan):
    """A plan whose reads last until `ready`."""

    def __init__(self, name: str, ready: threading.Event) -> None:
        super().__init__(range(1, 9), name)
        self.ready = ready

    def read(self, log: LogState, after: int, end: int) -> Excerpt:
        result = super().read(log, after, end)
        assert self.ready.wait(60)
        return result


async def wait_for_reads(plan: MemoryPlan, number: int) -> None:
    async with asyncio.timeout(60):
        while len(plan.reads) < number:
            await asyncio.sleep(0.005)


@pytest.fixture
def _one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "READERS", 1)


@pytest.mark.usefixtures("log_in_memory", "_one_thread")
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
