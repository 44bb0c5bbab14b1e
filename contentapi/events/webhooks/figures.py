"""The metrics of webhooks that are read from the database: how many there are, and how late they are."""

from django.db import connection

from contentapi.monitoring.figures import FIGURES, Sample

# A webhook is late since a delivery is due, or since it should have planned the next event of the log. One that
# collects events plans none while its receiver fails.
MEASURE = """
    SELECT count(*) FILTER (WHERE disabled_at IS NULL AND failing_since IS NULL),
        count(*) FILTER (WHERE disabled_at IS NULL AND failing_since IS NOT NULL),
        count(*) FILTER (WHERE disabled_at IS NOT NULL),
        coalesce(extract(epoch FROM clock_timestamp() - min(least(
            due_at,
            CASE WHEN coalesce = 0 OR failing_since IS NULL
                THEN event."timestamp" + coalesce * interval '1 second' END
        )) FILTER (WHERE disabled_at IS NULL)), 0)
    FROM events_webhook LEFT JOIN LATERAL (
        SELECT "timestamp" FROM events_event WHERE position = events_webhook.position + 1
    ) AS event ON true
"""
STATES = ("active", "failing", "disabled")
SAMPLES: list[Sample] = []  # of the last measurement
FIGURES.gauge_sources.append(lambda: SAMPLES)


def measure_webhooks() -> None:
    """Count the webhooks, and measure for how long the latest one has had something to send."""
    if not FIGURES.is_enabled:
        return
    with connection.cursor() as cursor:
        cursor.execute(MEASURE)
        *counts, late = cursor.fetchone()
    SAMPLES[:] = [("contentapi_webhooks", (state,), count) for state, count in zip(STATES, counts, strict=True)]
    SAMPLES.append(("contentapi_webhook_waiting_seconds", (), max(0.0, float(late))))
