"""The drill of webhooks finds what is lost, unknown, out of order or changed."""

import json

import pytest

from benchmarks.drill.webhooks import find_problems
from tests.webhook_receivers import Received

FILLER = (90, "other", 1)  # the first request of five fails


def receive(*events: tuple[int, str, int]) -> list[Received]:
    """Return requests with a position, an object and the number of a text."""
    return [
        Received(
            "POST / HTTP/1.1",
            {"webhook-id": f"evt_{position}"},
            json.dumps({"position": str(position), "subject": subject, "data": text}).encode(),
            time=0.0,
            connection=1,
        )
        for position, subject, text in events
    ]


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        ([(1, "a", 1), (2, "b", 1), (2, "b", 1)], ""),
        ([(1, "a", 1)], "1 events are lost"),
        ([(1, "a", 1), (2, "b", 1), (3, "b", 1)], "1 events are not in the log"),
        ([(2, "a", 1), (1, "a", 1)], "the event 1 came after 2 of its object"),
        ([(1, "a", 1), (2, "b", 1), (2, "b", 2)], "1 events came with two bodies"),
    ],
)
def test_problem_is_found(events: list[tuple[int, str, int]], problem: str) -> None:
    assert find_problems(receive(FILLER, *events), {1, 2, 90}) == ([problem] if problem else [])


def test_event_may_change_after_a_failed_attempt() -> None:
    assert find_problems(receive((1, "a", 1), (1, "a", 2)), {1}) == []


def test_two_ids_of_an_event_are_found() -> None:
    first, second = receive(FILLER, (1, "a", 1))

    other = second._replace(headers={"webhook-id": "evt_other"})

    assert find_problems([first, second, other], {1, 90}) == ["1 events came with two ids"]
