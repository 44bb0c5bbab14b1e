"""What runs beside the streams."""

import asyncio
from contextlib import suppress
from unittest.mock import Mock

import pytest

from contentapi.conf import timeouts
from contentapi.core.errors import RateLimited
from contentapi.core.identity import ANONYMOUS, Actor, Role
from contentapi.events.feed import LogState
from contentapi.streams import service
from contentapi.streams.follower import OUTAGES, Readers
from contentapi.streams.service import EVENTS_PER_CHARGE, StreamService, find_actors
from contentapi.streams.stream import Message, Reason
from tests.conftest import make_api_key
from tests.contentapi.streams.plans import MemoryPlan, make_batch, make_opening, make_stream
from tests.factories import make_actor
from users.authentication import authenticate_api_key
from users.models import User


@pytest.fixture(autouse=True)
def _no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `Readers.run` call functions at once. None of them uses the database."""

    async def run(_: object, function: object, *arguments: object) -> object:
        assert callable(function)
        return function(*arguments)

    monkeypatch.setattr(Readers, "run", run)


def test_failed_check_is_repeated(caplog: pytest.LogCaptureFixture) -> None:
    rounds = []

    async def main() -> None:
        enough = asyncio.Event()

        async def work() -> None:
            rounds.append(1)
            if len(rounds) == 3:
                enough.set()
            raise ValueError("a fault")

        task = asyncio.create_task(StreamService().repeat(0, work))
        await asyncio.wait_for(enough.wait(), 60)
        task.cancel()

    asyncio.run(main())

    assert caplog.text.count("A check of the streams failed") >= 2


def test_client_pays_one_unit_for_a_hundred_events(monkeypatch: pytest.MonkeyPatch) -> None:
    amounts: list[int] = []
    monkeypatch.setattr(service, "charge_limits", lambda _, *, amount, **__: amounts.append(amount))

    async def main() -> None:
        streams, stream = StreamService(), make_stream()
        for sent in (EVENTS_PER_CHARGE - 1, 1, 3 * EVENTS_PER_CHARGE + 1):
            stream.unpaid += sent
            await streams.charge(stream)

    asyncio.run(main())

    assert amounts == [1, 3]


def test_client_beyond_its_limit_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "charge_limits", Mock(side_effect=RateLimited("used up")))

    async def main() -> None:
        stream = make_stream()
        stream.unpaid = EVENTS_PER_CHARGE
        await StreamService().charge(stream)
        assert stream.reason == "rate"

    asyncio.run(main())


@pytest.mark.django_db
@pytest.mark.parametrize("change", ["nothing", "role", "lock"])
def test_actor_is_made_from_the_credential_each_time(change: str) -> None:
    keys = [make_api_key(make_actor(Role.ADMIN)) for _ in range(2)]
    held = [(("HTTP_X_API_KEY", key),) for key in keys]
    before = find_actors(held)
    user = User.objects.filter(pk=(before[0] or ANONYMOUS).user_id or 0)
    if change == "role":
        user.update(role=Role.READER)
    elif change == "lock":
        user.update(is_active=False)

    after = find_actors(held)

    assert (after[0] == before[0]) is (change == "nothing")
    assert after[1] == before[1] == authenticate_api_key(keys[1])


def test_stream_whose_actor_has_changed_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    then, now = Actor(7, Role.ADMIN), Actor(7, Role.READER)
    present = {"same": then, "other": now, "none": None}
    monkeypatch.setattr(service, "find_actors", lambda found: [present[each[0][1]] for each in found])

    async def main() -> dict[str, Reason | None]:
        streams = StreamService()
        for name in present:
            opening = make_opening(actor=then, credential=(("HTTP_X_API_KEY", name),))
            stream = make_stream(opening)
            stream.task = Mock()
            streams.hub.streams.add(stream)
        anonymous = make_stream()
        streams.hub.streams.add(anonymous)
        assert await streams.check_credentials()
        assert anonymous.reason is None
        held = streams.hub.streams - {anonymous}
        return {stream.opening.credential[0][1]: stream.reason for stream in held}

    assert asyncio.run(main()) == {"same": None, "other": "credential", "none": "credential"}


@pytest.mark.parametrize("error", [OUTAGES[0]("gone"), ValueError("a fault")])
def test_nothing_is_sent_while_credentials_cannot_be_checked(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    async def main() -> None:
        streams = StreamService()
        streams.seen_at = float("inf")
        stream = make_stream(make_opening(credential=(("HTTP_X_API_KEY", "key"),)))
        streams.hub.streams.add(stream)
        assert streams.inspect().status == "ok"
        monkeypatch.setattr(service, "find_actors", Mock(side_effect=error))
        with suppress(ValueError):
            assert not await streams.check_credentials()
        assert not streams.hub.is_checked.is_set()
        assert (streams.inspect().status, stream.reason) == ("failed", None)
        monkeypatch.setattr(service, "find_actors", lambda found: [ANONYMOUS for _ in found])
        await streams.check_credentials()
        assert streams.inspect().status == "ok"

    asyncio.run(main())


async def stay_connected() -> Message:
    await asyncio.Event().wait()
    return {}


def test_stream_that_was_opened_in_another_epoch_ends() -> None:
    sent: list[Message] = []
    plan = MemoryPlan([4, 5])

    async def send(message: Message) -> None:
        sent.append(message)

    async def main() -> None:
        streams = StreamService()
        streams.hub.advance(LogState("f", 5, 0), make_batch(5))
        opening = make_opening(plan, position=3, epoch="e")
        async with asyncio.timeout(60):
            await streams.run(opening, stay_connected, send)
        assert not streams.hub.streams

    asyncio.run(main())

    assert sent == [{"type": "http.response.body", "body": b"", "more_body": False}]  # without a cursor
    assert plan.reads == []


def test_write_that_hangs_does_not_outlive_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeouts, "STREAM_STOP_LIMIT", 0.05)

    async def main() -> None:
        streams, hangs = StreamService(), asyncio.Event()

        async def send(_: Message) -> None:
            hangs.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(streams.run(make_opening(epoch=""), stay_connected, send))
        await hangs.wait()
        await streams.end()
        await asyncio.wait({task}, timeout=60)  # `asyncio.timeout` would cancel the write
        assert task.done()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("types", "checks"), [(["post.updated"], 0), (["user.updated", "post.updated"], 2), (["user.deleted"], 2)]
)
def test_credentials_are_checked_before_events_after_a_change_of_users(
    monkeypatch: pytest.MonkeyPatch, types: list[str], checks: int
) -> None:
    monkeypatch.setattr(timeouts, "STREAM_RETRY_INTERVAL", 0)
    results, done = iter([False, True]), []  # the first check fails: the database is away

    async def check(_: StreamService) -> bool:
        done.append("check")
        return next(results)

    async def main() -> None:
        streams = StreamService()
        monkeypatch.setattr(StreamService, "check_credentials", check)
        monkeypatch.setattr(streams.hub, "advance", lambda *_: done.append("events"))
        await streams.pass_on(LogState("e", 1, 0), make_batch(1, types=types), must_check=False)

    asyncio.run(main())

    assert done == ["check"] * checks + ["events"]
