"""What people look at: what became of the deliveries of the last 24 hours, what one contains, where a replay begins."""

from collections.abc import Sequence
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
from contentapi.events.webhooks.bodies import find_actor, read_bodies
from contentapi.events.webhooks.models import Delivery, Webhook
from contentapi.events.webhooks.selectors import require_management
from contentapi.projection.selections import SelectedFieldError

HOURS = 24
MOST_COUNTED = 50_000  # deliveries, the newest ones
# `day` selects the partitions, and an index has the order. More rows would take too long.
COUNT = """
    SELECT date_trunc('hour', created_at, 'UTC'), count(*) FILTER (WHERE state = 'delivered'),
        count(*) FILTER (WHERE state IN ('failed', 'cancelled')), count(*) FILTER (WHERE state = 'waiting')
    FROM (
        SELECT created_at, state FROM events_delivery
        WHERE webhook_id = %s AND created_at >= %s AND day >= (%s AT TIME ZONE 'UTC')::date
        ORDER BY created_at DESC, id DESC LIMIT %s
    ) AS newest
    GROUP BY 1
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


def count_by_hour(actor: Actor, webhook_id: str) -> list[Hour]:
    """Count the newest deliveries of a webhook in the last 24 hours, the present one last.

    At most `MOST_COUNTED` are counted. Raises `Unauthenticated` and `Forbidden`.
    """
    require_management(actor, "read deliveries")
    present = timezone.now().replace(minute=0, second=0, microsecond=0)
    begins = [present - timedelta(hours=number) for number in reversed(range(HOURS))]
    with connection.cursor() as cursor:
        cursor.execute(COUNT, [parse_id(webhook_id), begins[0], begins[0], MOST_COUNTED])
        found = {hour: Hour(hour, *counts) for hour, *counts in cursor.fetchall()}
    return [found.get(hour, Hour(hour)) for hour in begins]


def sum_hours(hours: Sequence[Hour]) -> Hour:
    return Hour(hours[0].begins, *(sum(counts) for counts in list(zip(*hours, strict=True))[1:]))


def read_body(webhook: Webhook, delivery: Delivery) -> bytes | None:
    """Return the body that an attempt would send now.

    Return None if the webhook may not see the event any more, or if what it selects cannot be read: attempts say why.
    """
    actor = find_actor(webhook)
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
