"""How many streams may be open."""

from unittest.mock import Mock

import pytest

from contentapi.core.errors import RateLimited, Unavailable
from contentapi.rate_limits.places import Places
from contentapi.streams import limits
from contentapi.streams.limits import DOCUMENTS, FOR_ADDRESS, FOR_PERSON, release_stream, reserve_stream


@pytest.fixture(autouse=True)
def streams(monkeypatch: pytest.MonkeyPatch) -> Places:
    """Return the places of streams, which are free."""
    places = Places(FOR_PERSON + 1)
    monkeypatch.setattr(limits, "STREAMS", places)
    return places


@pytest.mark.parametrize(("is_anonymous", "most"), [(True, FOR_ADDRESS), (False, FOR_PERSON)])
def test_stream_beyond_the_limit_of_a_caller_is_refused(*, is_anonymous: bool, most: int) -> None:
    for _ in range(most):
        reserve_stream("somebody", None, is_anonymous=is_anonymous)

    with pytest.raises(RateLimited, match=f"At most {most} streams") as refusal:
        reserve_stream("somebody", None, is_anonymous=is_anonymous)

    assert refusal.value.headers["Retry-After"] == "5"
    reserve_stream("somebody else", None, is_anonymous=is_anonymous)
    release_stream("somebody", None)
    reserve_stream("somebody", None, is_anonymous=is_anonymous)


def test_full_process_refuses_everybody() -> None:
    for number in range(FOR_PERSON + 1):
        reserve_stream(f"person {number}", None, is_anonymous=True)

    with pytest.raises(Unavailable):
        reserve_stream("somebody else", None, is_anonymous=True)


def test_documents_have_a_limit_and_each_counts_once(monkeypatch: pytest.MonkeyPatch, streams: Places) -> None:
    monkeypatch.setattr(limits, "DOCUMENT_BYTES", 13)
    first, second, third = (Mock(document_size=6) for _ in range(3))
    reserve_stream("a", first, is_anonymous=True)
    reserve_stream("a", first, is_anonymous=True)
    with pytest.raises(Unavailable):  # anonymous callers have half of the room
        reserve_stream("a", second, is_anonymous=True)
    reserve_stream("b", second, is_anonymous=False)
    reserve_stream("a", first, is_anonymous=True)
    reserve_stream("c", None, is_anonymous=True)  # of REST: it keeps no document
    release_stream("c", None)
    with pytest.raises(Unavailable):
        reserve_stream("b", third, is_anonymous=False)

    release_stream("b", second)
    reserve_stream("b", third, is_anonymous=False)
    assert {first: 3, third: 1} == DOCUMENTS
    assert streams.taken == {"a": 3, "b": 1}
