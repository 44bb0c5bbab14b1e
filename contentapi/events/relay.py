"""The relay: it moves events from the outbox to the log, where each gets its position.

One relay works at a time, by an advisory lock, and each batch is one transaction. So positions have no gaps that are
filled later: who has seen a position has seen all events before it. An event of a transaction that commits late gets a
late position.
"""

from threading import Event as StopEvent
from time import monotonic

from django.db import connection, transaction

from contentapi.conf.timeouts import EVENTS_BUSY, EVENTS_INTERVAL, PARTITION_INTERVAL
from contentapi.events.partitions import expire_events, prepare_partitions
from contentapi.monitoring.figures import FIGURES, Sample

RELAY_LOCK = 0x6576656E7473  # "events"
CHANNEL = "contentapi_events"  # on which readers hear of a batch
EVENTS_PER_BATCH = 1000
MOST_COUNTED = 10_000  # rows of the outbox, for the metrics
# Moves a batch. Without the row of the log, it moves nothing.
MOVE = """
    WITH here AS MATERIALIZED (SELECT events_server() AS server),
    taken AS (
        DELETE FROM events_outbox
        WHERE id = ANY (ARRAY(SELECT id FROM events_outbox ORDER BY id LIMIT %s)) AND EXISTS (SELECT FROM events_log)
        RETURNING *
    ), advanced AS (
        UPDATE events_log AS log SET position = log.position + (SELECT count(*) FROM taken), server = here.server,
            epoch = CASE log.server WHEN here.server THEN log.epoch ELSE substr(md5(gen_random_uuid()::text), 1, 8) END
        FROM here WHERE EXISTS (SELECT FROM taken)
        RETURNING log.position - (SELECT count(*) FROM taken) AS before
    )
    INSERT INTO events_event (position, day, type, "timestamp", subject_id, version, was, now, changes, actor_id,
        is_public, owner_ids)
    SELECT before + row_number() OVER (ORDER BY id), (now() AT TIME ZONE 'UTC')::date, type, "timestamp", subject_id,
        version, was, now, changes, actor_id, is_public, owner_ids
    FROM taken, advanced
"""
MEASURE = f"""
    SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min("timestamp")), 0)
    FROM (SELECT "timestamp" FROM events_outbox ORDER BY id LIMIT {MOST_COUNTED}) AS waiting
"""  # noqa: S608 - a constant


SAMPLES: list[Sample] = []  # of the last measurement
FIGURES.gauge_sources.append(lambda: SAMPLES)


class Relay:
    """The job of the worker."""

    def __init__(self) -> None:
        self.maintained_at = self.measured_at = float("-inf")

    def run(self, stop: StopEvent) -> None:
        """Move events until there have been none for a moment. Return early when `stop` is set."""
        busy_until = float("-inf")
        while not stop.is_set():
            self.maintain()
            moved = move_events()
            if moved:
                busy_until = monotonic() + EVENTS_BUSY
            elif monotonic() >= busy_until:
                return
            if moved < EVENTS_PER_BATCH:
                stop.wait(EVENTS_INTERVAL)

    def maintain(self) -> None:
        """Make and drop partitions, and measure what waits in the outbox, each from time to time."""
        if monotonic() > self.maintained_at + PARTITION_INTERVAL:
            prepare_partitions()
            expire_events()
            self.maintained_at = monotonic()
        if FIGURES.is_enabled and monotonic() > self.measured_at + EVENTS_BUSY:
            measure_outbox()
            self.measured_at = monotonic()


def measure_outbox() -> None:
    with connection.cursor() as cursor:
        cursor.execute(MEASURE)
        rows, age = cursor.fetchone()
    SAMPLES[:] = [("contentapi_events_waiting", (), rows), ("contentapi_events_waiting_seconds", (), float(age))]


def move_events() -> int:
    """Move a batch of events to the log, and then notify its readers. Returns the number of events.

    It is 0 while another relay works. A writer never notifies: that would let all transactions commit one by one.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [RELAY_LOCK])
        if not cursor.fetchone()[0]:
            return 0
        cursor.execute(MOVE, [EVENTS_PER_BATCH])
        moved: int = cursor.rowcount
    if moved:
        with connection.cursor() as cursor:
            cursor.execute(f"NOTIFY {CHANNEL}")
        FIGURES.count("contentapi_events_batches_total")
        FIGURES.count("contentapi_events_total", amount=moved)
    return moved
