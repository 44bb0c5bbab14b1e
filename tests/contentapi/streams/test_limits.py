"""How many streams may be open."""

from types import SimpleNamespace
from typing import Any

import pytest

from contentapi.core.errors import RateLimited, Unavailable
from contentapi.core.identity import Actor, Role
from contentapi.streams import limits
from contentapi.streams.limits import FOR_ADDRESS, FOR_PERSON, PlanLimits, StreamLimits
from tests.contentapi.streams.plans import MemoryPlan


@pytest.mark.parametrize(("is_anonymous", "most"), [(True, FOR_ADDRESS), (False, FOR_PERSON)])
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
