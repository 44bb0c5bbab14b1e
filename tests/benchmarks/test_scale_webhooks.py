"""What `make scale` finds wrong with the events and the webhooks of the posts that its clients have written."""

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.scale.__main__ import format_announcements
from benchmarks.scale.outages import Outage
from benchmarks.scale.webhooks import Announcements, Delivery, judge, subtract

EVENTS = {"1": [7], "2": [8]}
DELIVERIES = [
    Delivery(webhook, f"evt_{post}", post, b"{}", 100.0 + int(post), sender)
    for post, sender in (("1", "10.0.0.1"), ("2", "10.0.0.2"))
    for webhook in ("one", "two")
]
HOSTS = ("10.0.0.1", "10.0.0.2", "10.0.0.3")
ACKNOWLEDGED = {"1": 100.0, "2": 103.0}


def judge_changed(
    events: dict[str, list[int]] | None = None, deliveries: list[Delivery] | None = None
) -> Announcements:
    return judge(EVENTS | (events or {}), DELIVERIES if deliveries is None else deliveries, ACKNOWLEDGED, HOSTS)


def test_each_post_with_one_event_and_a_delivery_to_each_webhook_is_right() -> None:
    found = judge_changed()

    assert found.list_broken_promises() == []
    assert (found.posts, found.repeated, found.sent) == (2, 0, (2, 2, 0))
    assert (found.delay, found.longest_delay) == (0.5, 1.0)  # a delivery can arrive before the response to the write


@pytest.mark.parametrize(
    ("changes", "promises"),
    [
        ({"events": {"2": []}}, ["1 posts without an event"]),
        ({"events": {"2": [8, 9]}}, ["1 posts with two events"]),
        ({"deliveries": DELIVERIES[1:]}, ["1 deliveries lost"]),
        ({"deliveries": [*DELIVERIES, DELIVERIES[0]]}, []),
        (
            {"deliveries": [*DELIVERIES, DELIVERIES[0]._replace(id="evt_9")]},
            ["1 deliveries repeated with another id or body"],
        ),
        (
            {"deliveries": [*DELIVERIES, DELIVERIES[0]._replace(body=b"[]")]},
            ["1 deliveries repeated with another id or body"],
        ),
    ],
)
def test_lost_and_changed_announcements_are_named(changes: dict[str, Any], promises: list[str]) -> None:
    assert judge_changed(**changes).list_broken_promises() == promises


def test_delivery_that_came_again_as_it_was_is_counted_apart() -> None:
    again = judge_changed(deliveries=[*DELIVERIES, DELIVERIES[0]])
    changed = judge_changed(deliveries=[*DELIVERIES, DELIVERIES[0]._replace(id="evt_9")])

    assert (again.repeated, again.changed) == (1, 0)
    assert (changed.repeated, changed.changed) == (0, 1)


def test_posts_of_other_faults_are_left_out() -> None:
    assert judge_changed(deliveries=[*DELIVERIES, DELIVERIES[0]._replace(post="3")]) == judge_changed()


def test_worker_that_was_killed_counts_from_its_new_start() -> None:
    assert subtract([12, 3], [5, 9]) == (7, 3)


def test_row_of_the_table_adds_the_rounds() -> None:
    outages = [
        Outage(
            "kill", writes=2, own_reads=2, missed=0, reads=1, failed_reads=0, slowest_read=0.1, pause=1.0,
            first_write=1.0, refusals=0, last_refusal=0.0, writes_apart=0, refusals_apart=0, relayed=(2, 1),
            announcements=judge_changed(),
        )
    ] * 2  # fmt: skip

    assert (
        format_announcements("kill", outages)
        == "| `kill` | 4 | 0 | 0 | 4 / 2 | 8 | 0 | 0 | 0 | 4 / 4 / 0 | 0.5 / 1.0 |"
    )
    assert format_announcements("kill", [replace(outages[0], announcements=None)]) == "| `kill` |"
