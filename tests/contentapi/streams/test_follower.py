"""What the follower passes on, and what is checked before."""

import pytest

from contentapi.events.feed import LogState
from contentapi.streams import follower
from contentapi.streams.follower import Follower
from tests.contentapi.streams.plans import make_batch


@pytest.mark.parametrize(
    ("types", "checks"), [(["post.updated"], 0), (["user.updated", "post.updated"], 2), (["user.deleted"], 2)]
)
def test_credentials_are_checked_before_events_after_a_change_of_users(
    monkeypatch: pytest.MonkeyPatch, types: list[str], checks: int
) -> None:
    monkeypatch.setattr(follower, "STREAM_RETRY_INTERVAL", 0)
    results, done = iter([False, True]), []  # the first check fails: the database is away

    def check() -> bool:
        done.append("check")
        return next(results)

    Follower(lambda *_: done.append("events"), check).announce(LogState("e", 1, 0), make_batch(1, types=types))

    assert done == ["check"] * checks + ["events"]
