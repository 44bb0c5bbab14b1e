"""The drill of events finds what is lost, foreign, out of order, outdated or changed at webhooks and streams."""

import json
from typing import Any

import pytest

from benchmarks.drill.received import compare_stream, compare_webhook
from benchmarks.followers import Received as Streamed
from tests.webhook_receivers import Received as Delivered

FILLER = (90, "other", "First")  # the first request of five fails
TEXTS = {"First": 1, "Second": 2}


def build_event(position: int, subject: str, title: str | None, version: int = 1) -> dict[str, Any]:
    data = title and {"title": title}
    return {"type": "post.updated", "position": str(position), "subject": subject, "version": version, "data": data}


def deliver(*events: tuple[Any, ...]) -> list[Delivered]:
    """Return requests with a position, an object, a title and a version."""
    return [
        Delivered(
            "POST / HTTP/1.1",
            {"webhook-id": f"evt_{each[0]}"},
            json.dumps(build_event(*each)).encode(),
            time=0.0,
            connection=1,
        )
        for each in events
    ]


def stream(*events: tuple[Any, ...]) -> list[Streamed]:
    return [Streamed(f"e-{each[0]}", build_event(*each), 0.0) for each in events]


def find_problems(*events: tuple[Any, ...], positions: tuple[int, ...] = (1, 2, 90)) -> str:
    return "; ".join(compare_webhook(deliver(*events), positions, TEXTS, failing=5))


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        ([(1, "a", "First"), (2, "b", "First"), (2, "b", "First")], ""),
        ([(1, "a", "First")], "1 of 3 events did not come, such as [2]"),
        ([(1, "a", "First"), (2, "b", "First"), (3, "b", "First")], "1 events came that are not for it, such as [3]"),
        ([(2, "a", "First"), (1, "a", "First")], "the event 1 came after 2 of its object"),
        ([(1, "a", "First"), (2, "b", "First"), (2, "b", "Second")], "1 events came with two bodies, such as [2]"),
        ([(1, "a", "First"), (2, "b", None), (2, "b", "First")], "1 events came with two bodies, such as [2]"),
    ],
)
def test_problem_of_a_webhook_is_found(events: list[tuple[Any, ...]], problem: str) -> None:
    assert find_problems(FILLER, *events) == problem


def test_state_of_an_object_may_change_after_a_failed_attempt() -> None:
    assert find_problems((1, "a", "First"), (1, "a", "Second"), positions=(1,)) == ""


def test_event_may_not_change_after_a_failed_attempt() -> None:
    assert "two bodies" in find_problems((1, "a", "Second", 1), (1, "a", "Second", 2), positions=(1,))


def test_object_that_is_hidden_since_has_no_state_in_a_repetition() -> None:
    assert find_problems(FILLER, (1, "a", "First"), (1, "a", None), positions=(1, 90)) == ""


def test_two_ids_of_an_event_are_found() -> None:
    first, second = deliver(FILLER, (1, "a", "First"))

    other = second._replace(headers={"webhook-id": "evt_other"})

    problems = list(compare_webhook([first, second, other], {1, 90}, TEXTS, failing=5))
    assert problems == ["1 events came with two ids, such as [1]"]


def test_state_older_than_its_event_is_found() -> None:
    for problems in (
        compare_webhook(deliver((1, "a", "First", 2)), {1}, TEXTS),
        compare_stream(stream((1, "a", "First", 2)), {1}, TEXTS),
    ):
        assert ["came with an old state" in problem for problem in problems] == [True]


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        ([(1, "a", "First"), (2, "b", "First"), (1, "a", "Second")], ""),
        ([(1, "a", "First")], "1 of 2 events did not come, such as [2]"),
        ([(1, "a", "First"), (2, "b", "First"), (3, "c", "First")], "1 events came that are not for it, such as [3]"),
        ([(2, "a", "First"), (1, "b", "First")], "the events did not come in their order"),
    ],
)
def test_problem_of_a_stream_is_found(events: list[tuple[Any, ...]], problem: str) -> None:
    assert "; ".join(compare_stream(stream(*events), (1, 2), TEXTS)) == problem


def test_wrong_cursor_and_changed_event_of_a_stream_are_found() -> None:
    first, second = stream((1, "a", "Second", 1), (1, "a", "Second", 2))

    problems = list(compare_stream([first, second._replace(cursor="e-2")], {1}, TEXTS))

    assert problems[0].startswith("1 came as")
    assert problems[1:] == ["1 came with the cursor e-2"]
