"""How many streams may be open."""

import pytest

from contentapi.core.errors import RateLimited, Unavailable
from contentapi.streams import limits
from contentapi.streams.limits import FOR_ADDRESS, FOR_CREDENTIAL, StreamLimits


@pytest.mark.parametrize(("is_anonymous", "most"), [(True, FOR_ADDRESS), (False, FOR_CREDENTIAL)])
def test_stream_beyond_the_limit_of_a_caller_is_refused(*, is_anonymous: bool, most: int) -> None:
    open_streams = StreamLimits()
    for _ in range(most):
        open_streams.reserve("somebody", is_anonymous=is_anonymous)

    with pytest.raises(RateLimited, match=f"At most {most} streams") as refusal:
        open_streams.reserve("somebody", is_anonymous=is_anonymous)

    assert refusal.value.headers["Retry-After"] == "5"
    open_streams.reserve("somebody else", is_anonymous=is_anonymous)


def test_ended_stream_makes_room_for_another() -> None:
    open_streams = StreamLimits()
    for _ in range(FOR_ADDRESS):
        open_streams.reserve("somebody", is_anonymous=True)

    open_streams.release("somebody")
    open_streams.reserve("somebody", is_anonymous=True)

    assert open_streams.total == FOR_ADDRESS


def test_callers_without_streams_are_forgotten() -> None:
    open_streams = StreamLimits()
    open_streams.reserve("somebody", is_anonymous=True)
    open_streams.release("somebody")

    assert not open_streams.open
    assert open_streams.total == 0


def test_full_process_refuses_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FOR_PROCESS", 1)
    open_streams = StreamLimits()
    open_streams.reserve("somebody", is_anonymous=True)

    with pytest.raises(Unavailable):
        open_streams.reserve("somebody else", is_anonymous=True)
