"""Plans whose events are in memory, and openings of streams with them."""

from collections.abc import Iterable, Sequence

from contentapi.core.identity import ANONYMOUS, Actor
from contentapi.events.feed import LogState, LogSubscription
from contentapi.rate_limits.account import Account
from contentapi.streams.follower import Batch
from contentapi.streams.formats import FEED, EventStream
from contentapi.streams.opening import Credential, Opening
from contentapi.streams.plans import AnyPlan, Excerpt, LogPlan, ObjectPlan, Plan
from contentapi.streams.stream import Message, Send, Stream


class MemoryPlan(LogPlan):
    """Events at positions. `reads` has the bounds of each read."""

    def __init__(self, positions: Iterable[int] = (), name: str = "events", subject: int | None = None) -> None:
        super().__init__(name, ANONYMOUS, FEED, LogSubscription(None, None, subject), lambda *_: [])
        self.positions = [*positions]
        self.reads: list[tuple[int, int]] = []
        self.errors: list[Exception] = []

    def read(self, _: LogState, after: int, end: int) -> Excerpt:
        self.reads.append((after, end))
        if self.errors:
            raise self.errors.pop()
        found = [position for position in self.positions if after < position <= end][: self.rows]
        chunks = [(b"%d " % position, position) for position in found]
        return Excerpt(chunks, found[-1] if len(found) == self.rows else end)


class MemoryObject(ObjectPlan):
    """An object with values, one after the other. The last one stays."""

    def __init__(self, values: Sequence[bytes]) -> None:
        AnyPlan.__init__(self, "object", ANONYMOUS, FEED, None)
        self.subject = 7
        self.values = [*values]

    def read(self, _: LogState, __: int, end: int) -> Excerpt:
        return Excerpt([(self.values.pop(0) if len(self.values) > 1 else self.values[0], end)], end)


def make_opening(
    plan: Plan | None = None,
    *,
    position: int = 0,
    epoch: str = "e",
    actor: Actor = ANONYMOUS,
    format_: EventStream | None = None,
    credential: Credential = (),
) -> Opening:
    plan = plan or MemoryPlan()
    plan.format = format_ or plan.format
    account = Account({"REMOTE_ADDR": "192.0.2.7"})
    return Opening(plan, position, epoch, actor, credential, account)


def make_batch(end: int, *, subjects: Iterable[int] = (7,), types: Iterable[str] = ("post.updated",)) -> Batch:
    return Batch([(end, name, subject, None, True) for subject in subjects for name in types], end)


async def leave_free(_: Stream) -> None:
    """Charge nothing."""


async def discard(_: Message) -> None:
    """Take what is written."""


def make_stream(opening: Opening | None = None, send: Send = discard) -> Stream:
    return Stream(opening or make_opening(), send, leave_free)
