"""When an attempt is repeated. No test here uses the database."""

import random
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from contentapi.conf.timeouts import WEBHOOK_RETRIES
from contentapi.events.webhooks import retries
from contentapi.events.webhooks.models import Delivery, DeliveryState
from contentapi.events.webhooks.retries import Result, read_retry_after
from contentapi.events.webhooks.sending import ReceivedResponse
from tests.receiver_behaviours import RETRY_AFTER

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
DAY = 86_400
HOURS = [2, 5, 10, 14, 20, 24]
FAILED = ReceivedResponse(500)


def choose_least(low: float, _: float) -> float:
    return low


def choose_mean(low: float, high: float) -> float:
    return (low + high) / 2


def choose_most(_: float, high: float) -> float:
    return high


def judge(
    reply: ReceivedResponse,
    tries: int = 0,
    kind: str = "post.updated",
    choose: Callable[[float, float], float] = choose_mean,
) -> Result:
    """Return what follows from the attempt after `tries` others, by default without jitter."""
    return retries.judge(Delivery(type=kind, tries=tries), reply, NOW, 0.5, choose)


def summarize(result: Result) -> tuple[str, float | None, str]:
    return str(result.state), result.delay, result.error


def test_2xx_is_delivered_and_any_other_status_repeated() -> None:
    for status in (200, 299):
        assert summarize(judge(ReceivedResponse(status))) == ("delivered", None, "")
        assert summarize(judge(ReceivedResponse(status), tries=9)) == ("delivered", None, "")
    for status in (100, 199, 300, 304, 410, 429, 500, 999):
        result = judge(ReceivedResponse(status))

        assert summarize(result) == ("waiting", 5, f"The receiver answered {status}.")
        assert result[1:4] == (ReceivedResponse(status), NOW, 0.5)


def test_attempt_without_a_response_is_repeated_with_its_reason() -> None:
    assert summarize(judge(ReceivedResponse(error="Broken."))) == ("waiting", 5, "Broken.")


def test_schedule_is_that_of_the_documentation() -> None:
    delays = [judge(FAILED, tries).delay for tries in range(9)]

    assert delays == pytest.approx([5, 5 * 60, 30 * 60, *(hours * 3600 for hours in HOURS)])
    assert summarize(judge(FAILED, 9)) == ("failed", None, "The receiver answered 500.")
    assert len(WEBHOOK_RETRIES) == 9


def test_delay_varies_by_a_fifth() -> None:
    for tries in range(9):
        delay = judge(FAILED, tries).delay
        least, most = (judge(FAILED, tries, choose=choose).delay for choose in (choose_least, choose_most))

        assert delay is not None
        assert least == pytest.approx(0.8 * delay)
        assert most == pytest.approx(1.2 * delay)


def test_delay_is_chosen_by_chance() -> None:
    delays = {judge(FAILED, 8, choose=random.uniform).delay for _ in range(100)}

    assert len(delays) > 50
    assert all(0.8 * DAY <= delay <= 1.2 * DAY for delay in delays if delay is not None)


def test_ping_is_tried_once() -> None:
    assert judge(FAILED, kind="webhook.ping").state is DeliveryState.FAILED


DATES = {
    "Thu, 26 Nov 2026 12:00:30 GMT": 30,
    "Thu, 26 Nov 2026 13:00:30 +0100": 30,
    "Thu, 26 Nov 2026 12:00:30": 30,  # without a zone
    "Thu, 26 Nov 2026 11:59:59 GMT": 0,
    "Fri, 27 Nov 2026 12:00:01 GMT": DAY,
    "86400": DAY,
    "86401": DAY,
    " 9 ": 9,
}


def test_retry_after_is_respected_if_it_says_something_and_is_a_day_at_most() -> None:
    for text, seconds in (*RETRY_AFTER.items(), *DATES.items()):
        assert read_retry_after(text, NOW) == (seconds or 0), text


def test_later_of_schedule_and_retry_after_counts() -> None:
    assert judge(ReceivedResponse(503, retry_after="60")).delay == 60
    assert judge(ReceivedResponse(503, retry_after="2")).delay == 5
    assert judge(ReceivedResponse(503, retry_after="Thu, 26 Nov 2026 12:01:00 GMT")).delay == 59.5
    assert judge(ReceivedResponse(204, retry_after="60")).delay is None
