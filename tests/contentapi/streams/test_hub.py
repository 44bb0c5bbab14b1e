"""Groups of streams, and streams that resume. Plans are read from memory, so that each read is known."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest
from django.db import OperationalError
from psycopg.errors import QueryCanceled

from contentapi.core.errors import EventsExpired
from contentapi.events.feed import LogState
from contentapi.streams import groups, hub
from contentapi.streams.hub import Hub
from contentapi.streams.plans import FIRST_ROWS, Excerpt, LogPlan, Plan
from contentapi.streams.stream import Stream
from tests.contentapi.streams.plans import MemoryObject, MemoryPlan, make_batch, make_opening


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

        async def leave() -> None:
            """Leave everything where the test finds it."""

        await self.hub.join(stream, leave, leave)
        return stream

    async def get_stuck(self, plan: Plan, position: int) -> tuple[Stream, "asyncio.Task[None]"]:
        """Return a stream that waits for a turn to read, and the task that lets it join."""
        stream = Stream(make_opening(plan, position=position))
        self.hub.streams.add(stream)
        for _ in range(hub.RESUMED_READERS):
            await self.hub.turns.acquire()

        async def leave() -> None:
            """Leave everything where the test finds it."""

        task = asyncio.create_task(self.hub.join(stream, leave, leave))
        await asyncio.sleep(0.01)
        return stream, task

    async def settle(self) -> None:
        """Wait until no group reads."""
        async with asyncio.timeout(10):
            while any(group.reading for group in self.hub.groups.values()):
                await asyncio.sleep(0.005)


@pytest.fixture(autouse=True)
def _log_of_the_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "read_log", lambda: LogState("e", 10**9, 0))
    monkeypatch.setattr(groups, "STREAM_RETRY_INTERVAL", 0.01)


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


def test_equal_streams_are_read_once() -> None:
    async def work(world: World) -> None:
        plans = [MemoryPlan(range(1, 4)) for _ in range(3)]
        streams = [await world.join(plan) for plan in plans]
        world.tell(3)
        await world.settle()

        assert [get_text(stream) for stream in streams] == ["1 2 3 "] * 3
        assert [len(plan.reads) for plan in plans] == [1, 0, 0]

    run(work)


def test_different_streams_are_read_for_themselves() -> None:
    async def work(world: World) -> None:
        plans = [MemoryPlan([1], "one"), MemoryPlan([2], "other")]
        streams = [await world.join(plan) for plan in plans]
        world.tell(2)
        await world.settle()

        assert [get_text(stream) for stream in streams] == ["1 ", "2 "]

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


def test_resumed_stream_reads_first_and_then_joins_its_group() -> None:
    async def work(world: World) -> None:
        plan, resumed = MemoryPlan(range(1, 100)), MemoryPlan(range(1, 100))
        world.tell(50)
        head = await world.join(plan, position=50)
        stream = await world.join(resumed, position=20)
        assert get_text(stream).split() == [str(number) for number in range(21, 51)]
        world.tell(52)
        await world.settle()

        assert get_text(head) == "51 52 "
        assert get_text(stream).split()[-2:] == ["51", "52"]
        assert len(world.hub.groups) == 1
        assert stream.opening.plan is plan

    run(work)


def test_stream_ahead_of_its_group_gets_no_event_twice() -> None:
    async def work(world: World) -> None:
        behind = await world.join(MemoryPlan(range(1, 10)))
        ahead = await world.join(MemoryPlan(range(1, 10)), position=4)
        world.tell(6)
        await world.settle()

        assert get_text(behind) == "1 2 3 4 5 6 "
        assert get_text(ahead) == "5 6 "

    run(work)


def test_group_is_read_again_after_an_outage() -> None:
    async def work(world: World) -> None:
        plan = MemoryPlan([1, 2])
        plan.errors = [OperationalError("gone")]
        stream = await world.join(plan)
        world.tell(2)
        await asyncio.sleep(0.05)
        assert not world.hub.is_checked.is_set()  # nothing is sent before the credentials are checked
        world.hub.is_checked.set()
        await world.settle()

        assert get_text(stream) == "1 2 "
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
        assert get_text(stream) == ""

    run(work)


def test_events_that_were_dropped_before_they_were_read_expire(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "read_log", lambda: LogState("e", 50, 30))

    async def work(world: World) -> None:
        world.tell(50)
        stream = await world.join(MemoryPlan(range(31, 50)), position=20)

        assert stream.reason == "expired"
        assert get_text(stream) == ""

    run(work)


def test_reading_for_a_resumed_stream_refuses_another_epoch() -> None:
    with pytest.raises(EventsExpired):
        hub.read_resumed(MemoryPlan(), LogState("other", 5, 0), 0, 5, 8)


def test_object_is_sent_at_once_and_when_its_value_differs() -> None:
    async def work(world: World) -> None:
        plan = MemoryObject([b"a ", b"a ", b"b "])
        first = await world.join(plan)
        await world.settle()
        world.tell(1)  # a change that this caller cannot see
        await world.settle()
        assert get_text(first) == "a "
        world.tell(2)
        await world.settle()
        second = await world.join(MemoryObject([b"never read"]))
        await world.settle()

        assert get_text(first) == "a b "
        assert get_text(second) == "b "

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
        world.hub.keep_alive(0, 1)
        assert not stream.waiting  # something was written a moment ago, for all that is known
        world.hub.keep_alive(0, 1)

        assert get_text(stream) == ":\nid: e-9\n\n"

    run(work)


def test_memory_of_resumed_streams_ends_those_that_do_not_read() -> None:
    async def work(world: World) -> None:
        stuck = await world.join(MemoryPlan())
        stuck.write_began = 0.001
        world.hub.resumed_bytes = hub.MOST_RESUMED_BYTES + 1
        stuck.task = asyncio.create_task(asyncio.sleep(60))
        waiting = asyncio.create_task(world.hub.wait_for_memory())
        await asyncio.wait({stuck.task}, timeout=5)
        assert stuck.task.cancelled()
        assert stuck.reason == "slow"
        assert not waiting.done()
        world.hub.resumed_bytes = 0
        await asyncio.wait_for(waiting, 5)

    run(work)


def test_statement_that_takes_too_long_is_read_with_fewer_rows_then_fails() -> None:
    async def work(world: World) -> None:
        plan = MemoryPlan([1, 2])
        plan.errors = [build_late_error()]
        stream = await world.join(plan)
        world.tell(2)
        await world.settle()
        assert get_text(stream) == "1 2 "
        plan.errors = [build_late_error() for _ in range(2)]
        world.tell(3)
        await world.settle()

        assert stream.reason == "error"

    run(work)


def test_stream_that_ends_while_it_waits_reads_nothing() -> None:
    async def work(world: World) -> None:
        plan = MemoryPlan(range(1, 9))
        world.tell(9)
        stream, task = await world.get_stuck(plan, position=3)
        stream.close("client")
        world.hub.turns.release()
        await asyncio.wait_for(task, 5)

        assert plan.reads == []

    run(work)


def test_resumed_stream_reads_no_more_rows_than_a_statement_can(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def read(plan: LogPlan, log: LogState, after: int, end: int, rows: int) -> Excerpt:
        asked.append(rows)
        if rows == FIRST_ROWS:
            raise build_late_error()
        return Excerpt([], min(end, after + rows), 2 * rows)

    monkeypatch.setattr(hub, "read_resumed", read)

    async def work(world: World) -> None:
        world.tell(5)
        await world.join(MemoryPlan(), position=1)

        assert asked == [FIRST_ROWS, 1, 1, 1, 1]

    run(work)


def test_what_was_written_does_not_count_while_it_is_charged() -> None:
    async def work(world: World) -> None:
        held = []
        world.tell(5)
        stream = Stream(make_opening(MemoryPlan([5]), position=1))

        async def write() -> None:
            held.append(world.hub.resumed_bytes)

        async def charge() -> None:
            held.append(world.hub.resumed_bytes)

        await world.hub.join(stream, write, charge)

        assert held == [len("5 "), 0]

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
        assert get_text(stream) == "3 4 "

    run(work)


def test_groups_that_read_slowly_leave_a_thread_to_others() -> None:
    ready = threading.Event()

    class SlowPlan(MemoryPlan):
        def read(self, log: LogState, after: int, end: int, rows: int = 0) -> Excerpt:
            assert ready.wait(10)
            return super().read(log, after, end, rows or 8)

    async def work(world: World) -> None:
        quick = await world.join(MemoryPlan([1, 2], "quick"))
        world.tell(1)
        await world.settle()
        slow = [await world.join(SlowPlan([2], name)) for name in ("one", "two", "three")]
        try:
            world.tell(2)
            async with asyncio.timeout(5):
                while get_text(quick) != "1 2 ":
                    await asyncio.sleep(0.005)
            assert [get_text(stream) for stream in slow] == ["", "", ""]
        finally:
            ready.set()
        await world.settle()
        assert [get_text(stream) for stream in slow] == ["2 ", "2 ", "2 "]

    run(work)
