"""How many streams may be open."""

from types import SimpleNamespace
from typing import Any

import pytest

from contentapi.core.errors import RateLimited, Unavailable
from contentapi.core.identity import Actor, Role
from contentapi.rate_limits.places import Places
from contentapi.streams import limits
from contentapi.streams.limits import FOR_ADDRESS, FOR_PERSON, PlanLimits, reserve_stream
from tests.contentapi.streams.plans import MemoryPlan


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


def build_plan(
    name: str, operation: Any = None, *, is_anonymous: bool = True, subject: int | None = None
) -> MemoryPlan:
    plan = MemoryPlan(name=name, subject=subject)
    plan.operation = operation
    plan.actor = plan.actor if is_anonymous else Actor(7, Role.ADMIN)
    return plan


def test_different_plans_have_a_limit_and_anonymous_callers_half_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PLANS", 4)
    plans = PlanLimits()
    for name in ("one", "two"):
        plans.reserve(build_plan(name))
    with pytest.raises(Unavailable):
        plans.reserve(build_plan("three"))
    plans.reserve(build_plan("two"))  # an equal one
    plans.reserve(build_plan("of an object", subject=8))
    for name in ("three", "four"):
        plans.reserve(build_plan(name, is_anonymous=False))
    with pytest.raises(Unavailable):
        plans.reserve(build_plan("five", is_anonymous=False))

    plans.release(build_plan("four", is_anonymous=False))
    plans.reserve(build_plan("five", is_anonymous=False))
    assert sorted(plans.streams.values()) == [1, 1, 1, 1, 2]


def test_documents_have_a_limit_and_each_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "DOCUMENT_BYTES", 20)
    plans, operations = PlanLimits(), [SimpleNamespace(document_size=6) for _ in range(2)]
    same = [build_plan("one", operations[0]), build_plan("two", operations[0])]
    for plan in same:
        plans.reserve(plan)
    with pytest.raises(Unavailable):
        plans.reserve(build_plan("three", operations[1]))
    plans.reserve(build_plan("three", operations[1], is_anonymous=False))
    plans.reserve(build_plan("without a document"))
    assert plans.document_bytes == 12

    for plan in (*same, build_plan("three", operations[1]), build_plan("without a document")):
        plans.release(plan)
    assert (plans.document_bytes, plans.documents, plans.streams) == (0, {}, {})


def test_document_of_an_equal_plan_takes_the_place_of_its_copy() -> None:
    plans = PlanLimits()
    first, copy = (build_plan("one", SimpleNamespace(document_size=6)) for _ in range(2))
    for plan in (first, copy):
        plans.reserve(plan)
    assert plans.document_bytes == 12
    plans.exchange(copy, first)
    plans.exchange(first, first)
    assert plans.document_bytes == 6
    for _ in range(2):
        plans.release(first)

    assert (plans.document_bytes, plans.documents, plans.streams) == (0, {}, {})
