"""Streams that resume read for themselves, up to where their group is."""

import asyncio

import pytest

from contentapi.events.feed import LogState
from tests.contentapi.streams.hubs import World, run
from tests.contentapi.streams.plans import MemoryPlan, make_batch

pytestmark = pytest.mark.usefixtures("log_in_memory")


def test_resumed_stream_reads_first_and_then_joins_its_group() -> None:
    async def work(world: World) -> None:
        plan, resumed = MemoryPlan(range(1, 100)), MemoryPlan(range(1, 100))
        world.tell(50)
        head = await world.join(plan, position=50)
        stream = await world.join(resumed, position=20)
        assert world.get_text(stream).split() == [str(number) for number in range(21, 51)]
        world.tell(52)
        await world.settle()

        assert world.get_text(head) == "51 52 "
        assert world.get_text(stream).split()[-2:] == ["51", "52"]
        assert len(world.hub.groups) == 1

    run(work)


def test_stream_ahead_of_its_group_gets_no_event_twice() -> None:
    async def work(world: World) -> None:
        behind = await world.join(MemoryPlan(range(1, 10)))
        ahead = await world.join(MemoryPlan(range(1, 10)), position=4)
        world.tell(6)
        await world.settle()

        assert world.get_text(behind) == "1 2 3 4 5 6 "
        assert world.get_text(ahead) == "5 6 "

    run(work)


def test_events_that_may_be_dropped_before_they_are_read_expire() -> None:
    async def work(world: World) -> None:
        world.hub.advance(LogState("e", 50, 30), make_batch(50))
        stream = await world.join(MemoryPlan(range(31, 50)), position=20)

        assert stream.reason == "expired"
        assert world.get_text(stream) == ""

    run(work)


def test_stream_that_ends_while_it_waits_reads_nothing() -> None:
    async def work(world: World) -> None:
        plan = MemoryPlan(range(1, 9))
        world.tell(9)
        stream, task = await world.get_stuck(plan, position=3)
        stream.close("client")
        world.hub.turns.release()
        await asyncio.wait({task}, timeout=60)

        assert plan.reads == []

    run(work)


def test_stream_that_joins_a_failed_group_reads_what_the_group_has_not() -> None:
    async def work(world: World) -> None:
        plan = MemoryPlan(range(1, 5))
        plan.errors = [ValueError("a fault")]
        failed = await world.join(plan)
        world.tell(5)
        await world.settle()
        stream = await world.join(MemoryPlan(range(1, 5)), position=2)

        assert failed.reason == "error"
        assert world.get_text(stream) == "3 4 "

    run(work)
