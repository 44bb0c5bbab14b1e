"""What follows from an attempt, such as when a delivery is sent again."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from contentapi.conf.timeouts import WEBHOOK_LONGEST_RETRY_AFTER, WEBHOOK_RETRIES
from contentapi.events.webhooks.models import PING, Delivery, DeliveryState
from contentapi.events.webhooks.sending import ReceivedResponse

JITTER = 0.2
GONE = 410


class Result(NamedTuple):
    """An attempt, and what follows from it."""

    delivery: Delivery
    reply: ReceivedResponse
    started_at: datetime | None  # None if there was no attempt
    seconds: float
    state: DeliveryState
    delay: float | None = None  # until a waiting one is due, in seconds. PostgreSQL takes no list of int and float
    error: str = ""


def judge(
    delivery: Delivery,
    reply: ReceivedResponse,
    started_at: datetime,
    seconds: float,
    choose: Callable[[float, float], float] = random.uniform,
) -> Result:
    """Return what follows from the reply to an attempt. A ping is tried once."""
    attempt = (delivery, reply, started_at, seconds)
    if reply.status is not None and 200 <= reply.status < 300:
        return Result(*attempt, DeliveryState.DELIVERED)
    error = reply.error or f"The receiver answered {reply.status}."
    if delivery.type == PING or delivery.tries >= len(WEBHOOK_RETRIES):
        return Result(*attempt, DeliveryState.FAILED, error=error)
    delay = WEBHOOK_RETRIES[delivery.tries] * choose(1 - JITTER, 1 + JITTER)
    wanted = read_retry_after(reply.retry_after, started_at + timedelta(seconds=seconds))
    return Result(*attempt, DeliveryState.WAITING, max(delay, wanted), error)


def read_retry_after(text: str, now: datetime) -> float:
    """Return the seconds that a receiver asks to wait, a day at most; 0 if the text is no number and no date."""
    text = text.strip()
    if text.isascii() and text.isdecimal():
        seconds = float(text[:9])
    else:
        try:
            date = parsedate_to_datetime(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            return 0.0
        seconds = ((date if date.tzinfo else date.replace(tzinfo=UTC)) - now).total_seconds()
    return min(max(seconds, 0.0), WEBHOOK_LONGEST_RETRY_AFTER)
