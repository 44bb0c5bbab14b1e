"""Groups of streams."""

import asyncio

import pytest
from django.db import OperationalError

from contentapi.conf.timeouts import STREAM_KEEP_ALIVE
from tests.contentapi.streams.hubs import World, build_late_error, run
from tests.contentapi.streams.plans import MemoryObject, MemoryPlan

pytestmark = pytest.mark.usefixtures("log_in_memory")


def test_equal_streams_are_read_once() -> None:
    async def work(world: World) -> None:
        plans = [MemoryPlan(range(1, 4)) for _ in range(3)]
        streams = [await world.join(plan) for plan in plans]
        world.tell(3)
        await world.settle()

        assert [world.get_text(stream) for stream in streams] == ["1 2 3 "] * 3
        assert [len(plan.reads) for plan in plans] == [1, 0, 0]

    run(work)


def test_different_streams_are_read_for_themselves() -> None:
    async def work(world: World) -> None:
        plans = [MemoryPlan([1], "one"), MemoryPlan([2], "other")]
        streams = [await world.join(plan) for plan in plans]
        world.tell(2)
        await world.settle()

        assert [world.get_text(stream) for stream in streams] == ["1 ", "2 "]

    run(work)


def test_batch_that_cannot_concern_a_group_is_not_read() -> None:
    async def work(world: World) -> None:
        plan = MemoryPlan([5], subject=8)
        await world.join(plan)
        world.tell(5)
        await world.settle()
        world.tell(6, subjects=(8,))
        await world.settle()

        assert plan.reads == [(5, 6)]

    run(work)


def test_group_is_read_again_after_an_outage() -> None:
    async def work(world: World) -> None:
        plan = MemoryPlan([1, 2])
        plan.errors = [OperationalError("gone")]
        stream = await world.join(plan)
        world.tell(2)
        async with asyncio.timeout(60):
            while world.hub.is_checked.is_set():  # nothing is sent before the credentials are checked
                await asyncio.sleep(0.005)
        world.hub.is_checked.set()
        await world.settle()

        assert world.get_text(stream) == "1 2 "
        assert plan.reads == [(0, 2)] * 2

    run(work)


def test_error_ends_the_streams_of_its_group_only() -> None:
    async def work(world: World) -> None:
        plan = MemoryPlan([1], "one")
        plan.errors = [ValueError("a fault")]
        failed, other = await world.join(plan), await world.join(MemoryPlan([1], "other"))
        world.tell(1)
        await world.settle()

        assert (failed.reason, other.reason) == ("error", None)

    run(work)


def test_new_epoch_ends_all_streams() -> None:
    async def work(world: World) -> None:
        stream, value = await world.join(MemoryPlan([1])), await world.join(MemoryObject([b"a "]))
        world.tell(1, epoch="f")
        await world.settle()

        assert (stream.reason, value.reason) == ("expired", "expired")
        assert world.get_text(stream) == ""

    run(work)


def test_object_is_sent_at_once_and_when_its_value_differs() -> None:
    async def work(world: World) -> None:
        plan = MemoryObject([b"a ", b"a ", b"b "])
        first = await world.join(plan)
        await world.settle()
        world.tell(1)  # a change that this caller cannot see
        await world.settle()
        assert world.get_text(first) == "a "
        world.tell(2)
        await world.settle()
        second = await world.join(MemoryObject([b"never read"]))
        await world.settle()

        assert world.get_text(first) == "a b "
        assert world.get_text(second) == "b "

    run(work)


def test_group_without_streams_is_forgotten() -> None:
    async def work(world: World) -> None:
        stream = await world.join(MemoryPlan([1]))
        world.hub.remove(stream)

        assert not world.hub.groups
        assert not world.hub.streams

    run(work)


def test_sign_of_life_has_the_cursor_of_what_the_filter_left_out() -> None:
    async def work(world: World) -> None:
        stream = await world.join(MemoryPlan(subject=8))
        world.tell(9)
        await world.hub.check()
        assert not stream.waiting  # something was written a moment ago, for all that is known
        stream.added_at -= STREAM_KEEP_ALIVE
        await world.hub.check()

        assert world.get_text(stream) == ":\nid: e-9\n\n"

    run(work)


def test_statement_that_takes_too_long_is_read_with_fewer_rows_then_fails() -> None:
    async def work(world: World) -> None:
        plan = MemoryPlan([1, 2])
        plan.errors = [build_late_error()]
        stream = await world.join(plan)
        world.tell(2)
        await world.settle()
        assert (world.get_text(stream), plan.most_rows) == ("1 2 ", 1)
        plan.errors = [build_late_error() for _ in range(2)]
        world.tell(3)
        await world.settle()

        assert stream.reason == "error"

    run(work)
