"""Plans whose events are in memory, and openings of streams with them."""

from collections.abc import Iterable, Sequence

from contentapi.core.identity import ANONYMOUS, Actor
from contentapi.events.feed import LogState
from contentapi.events.subscriptions import LogSubscription
from contentapi.rate_limits.account import Account
from contentapi.streams.formats import FEED, EventStream
from contentapi.streams.opening import Credential, Opening
from contentapi.streams.plans import Batch, Chunk, Excerpt, LogPlan, ObjectPlan, Plan


class MemoryPlan(LogPlan):
    """Events at positions. `reads` has the bounds of each read."""

    def __init__(self, positions: Iterable[int] = (), name: str = "events", subject: int | None = None) -> None:
        super().__init__(name, ANONYMOUS, FEED, LogSubscription(None, None, subject), lambda *_: [])
        self.positions = [*positions]
        self.reads: list[tuple[int, int]] = []
        self.errors: list[Exception] = []

    def read(self, _: LogState, after: int, end: int, rows: int) -> Excerpt:
        self.reads.append((after, end))
        if self.errors:
            raise self.errors.pop()
        found = [position for position in self.positions if after < position <= end][:rows]
        chunks = [Chunk(position, b"%d " % position) for position in found]
        return Excerpt(chunks, found[-1] if len(found) == rows else end, rows)


class MemoryObject(ObjectPlan):
    """An object with values, one after the other. The last one stays."""

    def __init__(self, values: Sequence[bytes]) -> None:
        Plan.__init__(self, "object", ANONYMOUS, FEED)
        self.subject = 7
        self.values = [*values]

    def read(self, _: LogState, __: int, end: int, ___: int) -> Excerpt:
        return Excerpt([Chunk(end, self.values.pop(0) if len(self.values) > 1 else self.values[0])], end)


def make_opening(
    plan: Plan | None = None,
    *,
    position: int = 0,
    epoch: str = "e",
    actor: Actor = ANONYMOUS,
    format_: EventStream | None = None,
    credential: Credential | None = None,
) -> Opening:
    plan = plan or MemoryPlan()
    plan.format = format_ or plan.format
    account = Account({"REMOTE_ADDR": "192.0.2.7"})
    return Opening(plan, position, epoch, actor, credential or Credential(()), account, {})


def make_batch(end: int, *, subjects: Iterable[int] = (7,), types: Iterable[str] = ("post.updated",)) -> Batch:
    return Batch(end=end, types={*types}, public_types={*types}, subjects={*subjects}, objects={*subjects})
