"""One stream: what waits for its client, and its end."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

import pytest

from contentapi.conf.timeouts import STREAM_LIFETIME, STREAM_WRITE_LIMIT
from contentapi.core.errors import EventsExpired
from contentapi.streams.formats import GRAPHQL_FORMATS
from contentapi.streams.stream import MOST_BYTES, MOST_EVENTS, PIECE, Message, Stream
from tests.contentapi.streams.plans import leave_free, make_opening, make_stream


def run(work: Callable[[Stream], Awaitable[None]], *, reads: bool = True, format_: Any = None) -> tuple[Stream, bytes]:
    """Write a stream while `work` does something with it. Return the stream, and what its client has read.

    A client that does not read takes nothing.
    """

    async def main() -> tuple[Stream, bytes]:
        written: list[bytes] = []

        async def send(message: Message) -> None:
            if not reads:
                await asyncio.Event().wait()
            written.append(message["body"])

        started = asyncio.get_running_loop().create_future()

        async def write() -> None:
            stream = make_stream(make_opening(format_=format_), send)
            started.set_result(stream)
            await stream.run(leave_free)

        task = asyncio.create_task(write())
        stream = await started
        await work(stream)
        async with asyncio.timeout(60):
            await task
        return stream, b"|".join(written)

    return asyncio.run(main())


async def get_stuck(stream: Stream) -> None:
    """Let the stream write something that its client does not read."""
    stream.add(b"e", 1)
    while not stream.write_began:
        await asyncio.sleep(0)


def test_what_waits_is_written_before_the_end() -> None:
    async def work(stream: Stream) -> None:
        stream.add(b"a", 1)
        stream.add(b"b", 1)
        stream.close("lifetime")

    stream, written = run(work)

    assert (written, stream.unpaid, stream.waiting) == (b"a|b|", 2, [])


def test_long_content_is_written_in_pieces() -> None:
    async def work(stream: Stream) -> None:
        stream.add(b"x" * (2 * PIECE + 1), 1)
        stream.close("lifetime")

    _, written = run(work)

    assert [len(piece) for piece in written.split(b"|")] == [PIECE, PIECE, 1, 0]


@pytest.mark.parametrize("waiting", [[b"e"] * MOST_EVENTS, [b"x" * MOST_BYTES]])
def test_client_that_does_not_read_is_closed_when_too_much_waits(waiting: list[bytes]) -> None:
    async def work(stream: Stream) -> None:
        await get_stuck(stream)
        for content in waiting:
            stream.add(content, 1)
        assert stream.reason is None
        stream.add(b"e", 1)

    stream, written = run(work, reads=False)

    assert (stream.reason, written) == ("slow", b"")


def test_single_event_may_be_larger_than_what_may_wait() -> None:
    async def work(stream: Stream) -> None:
        stream.add(b"x" * (MOST_BYTES + 1), 1)
        stream.close("lifetime")

    stream, _ = run(work)

    assert (stream.reason, stream.unpaid) == ("lifetime", 1)


def test_write_that_waits_for_too_long_ends_the_stream() -> None:
    async def work(stream: Stream) -> None:
        await get_stuck(stream)
        stream.check(stream.write_began + STREAM_WRITE_LIMIT - 1)
        assert stream.reason is None
        stream.check(stream.write_began + STREAM_WRITE_LIMIT + 1)

    stream, _ = run(work, reads=False)

    assert stream.reason == "slow"


def test_stream_ends_after_its_lifetime() -> None:
    async def work(stream: Stream) -> None:
        stream.check(monotonic() + STREAM_LIFETIME * 0.89)
        assert stream.reason is None
        stream.check(monotonic() + STREAM_LIFETIME + 1)

    stream, _ = run(work)

    assert stream.reason == "lifetime"


def test_error_of_a_subscription_is_sent_and_completes_it() -> None:
    async def work(stream: Stream) -> None:
        stream.fail(EventsExpired("Read everything again."))

    stream, _ = run(work, format_=GRAPHQL_FORMATS[0])

    assert stream.reason == "expired"
    assert stream.final.startswith(b"event: next\ndata: ")
    assert b'"code":"EVENTS_EXPIRED"' in stream.final
    assert stream.final.endswith(GRAPHQL_FORMATS[0].end)


@pytest.mark.parametrize("has_ended", [False, True])
def test_stream_without_rights_sends_nothing_that_waits(*, has_ended: bool) -> None:
    async def work(stream: Stream) -> None:
        await get_stuck(stream)
        stream.add(b"secret", 1)
        if has_ended:
            stream.close("lifetime")
        stream.close("credential")

    stream, written = run(work, reads=False)

    assert (written, stream.waiting) == (b"", [])
