"""What people look at: what became of the deliveries of the last 24 hours, what one contains, where a replay begins."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from django.db import Error as DatabaseError
from django.db import connection
from django.utils import timezone

from contentapi.core.errors import ApiError
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.events.feed import read_log
from contentapi.events.models import Event
from contentapi.events.webhooks.bodies import read_actors, read_bodies
from contentapi.events.webhooks.models import Delivery, DeliveryState, Webhook
from contentapi.events.webhooks.selectors import require_management
from contentapi.projection.selections import SelectedFieldError

HOURS = 24
MOST_COUNTED = 50_000  # deliveries, the newest ones
# `day` selects the partitions, and an index has the order. More rows would take too long.
COUNT = """
    SELECT date_trunc('hour', created_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', state, count(*)
    FROM (
        SELECT created_at, state FROM events_delivery
        WHERE webhook_id = %s AND created_at >= %s AND day >= (%s AT TIME ZONE 'UTC')::date
        ORDER BY created_at DESC, id DESC LIMIT %s
    ) AS newest
    GROUP BY 1, 2
"""


class Hour(NamedTuple):
    """The deliveries that were planned in an hour, by what became of them."""

    begins: datetime
    delivered: int = 0
    failed: int = 0  # or cancelled
    waiting: int = 0

    @property
    def total(self) -> int:
        return self.delivered + self.failed + self.waiting


class Hours(NamedTuple):
    """The last 24 hours, the present one last. It is not complete if there are more deliveries than are counted."""

    hours: list[Hour]
    is_complete: bool

    @property
    def delivered(self) -> int:
        return sum(hour.delivered for hour in self.hours)

    @property
    def failed(self) -> int:
        return sum(hour.failed for hour in self.hours)

    @property
    def waiting(self) -> int:
        return sum(hour.waiting for hour in self.hours)


def count_by_hour(actor: Actor, webhook_id: str) -> Hours:
    """Count the newest deliveries of a webhook by hour and state. Raises `Unauthenticated` and `Forbidden`."""
    require_management(actor, "read deliveries")
    present = timezone.now().replace(minute=0, second=0, microsecond=0)
    begins = [present - timedelta(hours=number) for number in reversed(range(HOURS))]
    with connection.cursor() as cursor:
        cursor.execute(COUNT, [parse_id(webhook_id), begins[0], begins[0], MOST_COUNTED])
        counts = {(hour, state): count for hour, state, count in cursor.fetchall()}
    hours = [
        Hour(
            hour,
            delivered=counts.get((hour, DeliveryState.DELIVERED), 0),
            failed=counts.get((hour, DeliveryState.FAILED), 0) + counts.get((hour, DeliveryState.CANCELLED), 0),
            waiting=counts.get((hour, DeliveryState.WAITING), 0),
        )
        for hour in begins
    ]
    return Hours(hours, is_complete=sum(counts.values()) < MOST_COUNTED)


def read_body(webhook: Webhook, delivery: Delivery) -> bytes | None:
    """Return the body that an attempt would send now.

    Return None if the webhook may not see the event any more, or if what it selects cannot be read: attempts say why.
    """
    actor = read_actors([webhook]).get(webhook.pk)
    if actor is None:
        return None
    try:
        return read_bodies(webhook, actor, [delivery]).get(delivery.pk)
    except (ApiError, SelectedFieldError, DatabaseError):
        return None


def find_cursor(since: datetime | None) -> str | None:
    """Return the cursor after which the events since a time begin; None if that is the oldest that is kept."""
    if since is None:
        return None
    log, utc = read_log(), since.astimezone(UTC)
    # `day` selects the partitions: an event gets its position after it has happened.
    later = Event.objects.filter(day__gte=utc.date(), timestamp__gte=utc, position__gt=log.expired)
    first = later.order_by("position").values_list("position", flat=True).first()
    return log.format_cursor(log.position if first is None else first - 1)
