"""When an attempt is repeated."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from contentapi.conf.timeouts import WEBHOOK_RETRIES
from contentapi.events.webhooks.models import PING, DeliveryState
from contentapi.events.webhooks.retries import decide, has_failed_for_long, read_retry_after
from contentapi.events.webhooks.transport import ReceivedResponse

NOW = datetime(2026, 11, 3, 8, tzinfo=UTC)
MINUTE, HOUR = 60, 3600


def average(low: float, high: float) -> float:
    return (low + high) / 2


def test_attempts_follow_the_schedule() -> None:
    outcomes = [decide(ReceivedResponse(500), tries, "post.created", NOW, average) for tries in range(1, 10)]
    delays = [outcome.delay for outcome in outcomes]

    assert delays == [5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR]
    assert decide(ReceivedResponse(500), 10, "post.created", NOW).state == DeliveryState.FAILED


@pytest.mark.parametrize(("choose", "factor"), [(min, 0.8), (max, 1.2)])
def test_jitter_is_a_fifth(choose: Callable[[float, float], float], factor: float) -> None:
    assert decide(ReceivedResponse(500), 1, "post.created", NOW, choose).delay == WEBHOOK_RETRIES[0] * factor


@pytest.mark.parametrize("status", [200, 204, 299])
def test_status_of_success_delivers(status: int) -> None:
    assert decide(ReceivedResponse(status), 1, "post.created", NOW).state == DeliveryState.DELIVERED


@pytest.mark.parametrize("status", [101, 300, 302, 304, 400, 410, 429, 500, None])
def test_other_status_is_a_failure(status: int | None) -> None:
    outcome = decide(ReceivedResponse(status, "" if status else "Closed."), 1, "post.created", NOW)

    assert outcome.state == DeliveryState.WAITING
    assert outcome.error == (f"The receiver answered {status}." if status else "Closed.")


def test_ping_is_tried_once() -> None:
    assert decide(ReceivedResponse(500), 1, PING, NOW).state == DeliveryState.FAILED


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("", 0),
        ("120", 120),
        (" 120 ", 120),
        ("-5", 0),
        ("1.5", 0),
        ("soon", 0),
        ("999999999999", 86_400),
        ("Tue, 03 Nov 2026 08:10:00 GMT", 600),
        ("Tue, 03 Nov 2026 07:00:00 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400),
        ("Tue, 99 Nov 2026 08:10:00 GMT", 0),
    ],
)
def test_retry_after_is_a_number_or_a_date(text: str, seconds: float) -> None:
    assert read_retry_after(text, NOW) == seconds


def test_retry_after_postpones_but_never_hastens() -> None:
    assert decide(ReceivedResponse(503, retry_after="600"), 1, "post.created", NOW).delay == 600
    delay = decide(ReceivedResponse(503, retry_after="1"), 2, "post.created", NOW).delay
    assert delay is not None
    assert delay >= 240


@pytest.mark.parametrize(("days", "is_long"), [(4.9, False), (5, True)])
def test_five_days_of_failures_are_long(days: float, *, is_long: bool) -> None:
    assert has_failed_for_long(NOW - timedelta(days=days), NOW) is is_long
    assert not has_failed_for_long(None, NOW)
