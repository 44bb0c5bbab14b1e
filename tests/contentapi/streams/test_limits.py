"""How many streams may be open."""

from typing import Any
from unittest.mock import Mock

import pytest

from contentapi.core.errors import RateLimited, Unavailable
from contentapi.rate_limits.places import Places
from contentapi.streams import limits
from contentapi.streams.limits import FOR_ADDRESS, FOR_PERSON, Documents, reserve_stream


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> Places:
    """Return the places of streams, which are free."""
    places = Places(FOR_PERSON + 1)
    monkeypatch.setattr(limits, "STREAMS", places)
    return places


@pytest.mark.parametrize(("is_anonymous", "most"), [(True, FOR_ADDRESS), (False, FOR_PERSON)])
def test_stream_beyond_the_limit_of_a_caller_is_refused(streams: Places, *, is_anonymous: bool, most: int) -> None:
    for _ in range(most):
        reserve_stream("somebody", is_anonymous=is_anonymous)

    with pytest.raises(RateLimited, match=f"At most {most} streams") as refusal:
        reserve_stream("somebody", is_anonymous=is_anonymous)

    assert refusal.value.headers["Retry-After"] == "5"
    reserve_stream("somebody else", is_anonymous=is_anonymous)
    streams.leave("somebody")
    reserve_stream("somebody", is_anonymous=is_anonymous)


@pytest.mark.usefixtures("streams")
def test_full_process_refuses_everybody() -> None:
    for number in range(FOR_PERSON + 1):
        reserve_stream(f"person {number}", is_anonymous=True)

    with pytest.raises(Unavailable):
        reserve_stream("somebody else", is_anonymous=True)


def build_operation() -> Any:
    return Mock(document_size=6)


def test_documents_have_a_limit_and_each_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "DOCUMENT_BYTES", 13)
    documents, first, second, third = Documents(), build_operation(), build_operation(), build_operation()
    documents.reserve(first, is_anonymous=True)
    documents.reserve(first, is_anonymous=True)
    with pytest.raises(Unavailable):  # anonymous callers have half of the room
        documents.reserve(second, is_anonymous=True)
    documents.reserve(second, is_anonymous=False)
    documents.reserve(first, is_anonymous=True)
    with pytest.raises(Unavailable):
        documents.reserve(third, is_anonymous=False)

    documents.release(second)
    documents.reserve(third, is_anonymous=False)
    assert documents.streams == {first: 3, third: 1}
