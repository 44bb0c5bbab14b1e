"""The relay: it moves events from the outbox to the log, where each gets its position.

One relay works at a time, by an advisory lock, and each batch is one transaction. So positions have no gaps that are
filled later: a reader at a position has read all events before it. An event of a transaction that commits late gets a
late position.
"""

from collections.abc import Sequence
from threading import Event as StopEvent
from time import monotonic

from django.db import Error as DatabaseErrors
from django.db import IntegrityError, transaction

from contentapi.conf.timeouts import EVENTS_BUSY, EVENTS_IDLE_INTERVAL, EVENTS_INTERVAL, EVENTS_REFUSED
from contentapi.db.distribution import is_distributed
from contentapi.db.statements import execute, fetch_column, fetch_rows
from contentapi.events.partitions import NEW_EPOCH, prepare_partitions
from contentapi.monitoring.figures import FIGURES
from contentapi.worker.items import raise_outage, try_item

RELAY_LOCK = 0x6576656E7473  # "events"
CHANNEL = "contentapi_events"  # on which readers hear of a batch
EVENTS_PER_BATCH = 1000
# Changes nothing. With it, a transaction of a distributed database that changes the log and the rows of one node has
# two phases: otherwise the node commits first, and a coordinator that fails then loses its own changes.
TWO_PHASES = "DELETE FROM contentapi_idempotencyrecord WHERE key = ''"
MOST_COUNTED = 10_000  # rows of the outbox, for the metrics
# Moves a batch. Without the row of the log, it moves nothing.
#
# It does not look at ids up to `moved`: no event can come there any more, but an old snapshot, as of a backup, keeps
# the rows that were deleted. The last id of a batch becomes `moved` when all transactions with a lower xid than its
# own have ended. A transaction has an xid before it takes an id, so all ids up to that one are theirs.
MOVE_ROWS = f"""
    WITH here AS (
        SELECT events_server() AS server, pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest_xid
    ), state AS MATERIALIZED (
        SELECT here.server, log.server = here.server AS is_same,
            log.server <> here.server OR oldest_xid > next_xid AS is_settled,
            CASE log.server WHEN here.server THEN moved ELSE 0 END AS moved,
            CASE log.server WHEN here.server THEN next_moved ELSE 0 END AS next_moved
        FROM events_log AS log, here
    ), taken AS (
        {{taken}}
    ), advanced AS (
        UPDATE events_log AS log SET position = position + size, server = state.server,
            epoch = CASE WHEN is_same THEN epoch ELSE {NEW_EPOCH} END,
            moved = CASE WHEN is_settled THEN least(state.next_moved, last) ELSE state.moved END,
            next_moved = CASE WHEN is_settled THEN last ELSE log.next_moved END,
            next_xid = CASE WHEN is_settled THEN pg_current_xact_id()::text::bigint ELSE next_xid END
        FROM state, (SELECT count(*) AS size, {{last}} AS last FROM taken) AS batch
        WHERE size > 0
        RETURNING position - size AS before
    )
    INSERT INTO events_event (position, day, type, "timestamp", subject_id, parent_id, version, was, now, changes,
        actor_id, is_public, owner_ids)
    SELECT before + row_number() OVER (ORDER BY {{order}}), (now() AT TIME ZONE 'UTC')::date, type, "timestamp",
        subject_id, nullif(parent_id, subject_id), version, was, now, changes, actor_id, is_public, owner_ids
    FROM taken, advanced
"""  # noqa: S608 - constants
TAKEN = """DELETE FROM events_outbox WHERE id = ANY (ARRAY(
            SELECT id FROM events_outbox WHERE id > (SELECT moved FROM state) AND id <> ALL (%s::bigint[])
            ORDER BY id LIMIT %s
        ))
        RETURNING *"""
MOVE = MOVE_ROWS.format(taken=TAKEN, last="least(max(id), %s)", order="id")
# A statement of a distributed database does not read shards and write to the coordinator: the rows, taken before, are a
# parameter. Ids of several nodes have no common order, so that none is passed over.
TAKE = """
    WITH taken AS (
        DELETE FROM events_outbox WHERE id IN (
            SELECT id FROM events_outbox WHERE id <> ALL (%s::bigint[]) ORDER BY id LIMIT %s
        ) RETURNING *
    ) SELECT json_agg(taken)::text FROM taken
"""
READ_TAKEN = "SELECT * FROM json_populate_recordset(NULL::events_outbox, %s)"
MOVE_TAKEN = MOVE_ROWS.format(taken=READ_TAKEN, last="0", order='"timestamp", id')
FIND_FIRST = """
    SELECT id FROM events_outbox WHERE id > (SELECT moved FROM events_log) AND id <> ALL (%s::bigint[])
    ORDER BY id LIMIT 1
"""
MEASURE = f"""
    SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min("timestamp")), 0)
    FROM (
        SELECT "timestamp" FROM events_outbox WHERE id > coalesce((SELECT moved FROM events_log), 0)
        ORDER BY id LIMIT {MOST_COUNTED}
    ) AS waiting
"""  # noqa: S608 - a constant


class Relay:
    """The job of the worker."""

    def __init__(self) -> None:
        self.busy_until = self.measured_at = self.refused_at = float("-inf")
        self.pause: float = EVENTS_IDLE_INTERVAL  # until the next round: short for a moment after events
        self.refused: list[int] = []  # ids in the outbox of events that could not be moved

    def run(self, stop: StopEvent) -> None:
        """Move a batch, and measure what waits from time to time."""
        self.pause = EVENTS_IDLE_INTERVAL  # after an error too
        if self.refused and monotonic() > self.refused_at + EVENTS_REFUSED:
            self.refused = []
        moved = self.move(stop)
        if moved:
            self.busy_until = monotonic() + EVENTS_BUSY
        if FIGURES.is_enabled and monotonic() > self.measured_at + EVENTS_BUSY:
            self.measure()
        if moved == EVENTS_PER_BATCH:
            self.pause = 0
        elif monotonic() < self.busy_until:
            self.pause = EVENTS_INTERVAL

    def move(self, stop: StopEvent) -> int:
        """Move a batch; after an error, its events one by one, so that one event holds up no others."""
        try:
            return self.move_batch(EVENTS_PER_BATCH)
        except DatabaseErrors as error:
            raise_outage(error)
        moved = 0
        while moved < EVENTS_PER_BATCH and not stop.is_set() and self.move_first():
            moved += 1
        return moved

    def move_first(self) -> bool:
        """Move the first event. One that cannot be moved stays in the outbox. Return whether there may be others."""
        for event in fetch_column(FIND_FIRST, [self.refused]):
            moved = try_item("events", f"event {event} of the outbox", self.move_batch, 1)
            if moved is None:
                self.refused.append(event)
                self.refused_at = monotonic()
            return moved != 0
        return False

    def measure(self) -> None:
        [(rows, age)] = fetch_rows(MEASURE)
        names = ("contentapi_events_waiting", "contentapi_events_waiting_seconds")
        FIGURES.measured["outbox"] = [(name, (), value) for name, value in zip(names, (rows, float(age)), strict=True)]
        self.measured_at = monotonic()

    def move_batch(self, size: int) -> int:
        try:
            return move_events(size, self.refused)
        except IntegrityError:  # there is no partition of today: at the first start, or after a sleep of the host
            prepare_partitions()
            return move_events(size, self.refused)


def move_events(limit: int = EVENTS_PER_BATCH, refused: Sequence[int] = ()) -> int:
    """Move a batch of events, without refused ones, to the log, and then notify its readers. Returns their number.

    It is 0 while another relay works. A writer never notifies: that would let all transactions commit one by one.
    """
    with transaction.atomic():
        if fetch_column("SELECT pg_try_advisory_xact_lock(%s) FROM events_log", [RELAY_LOCK]) != [True]:
            return 0
        if is_distributed():
            taken = fetch_column(TAKE, [list(refused), limit])
            if taken == [None]:
                return 0
            execute(TWO_PHASES)
            moved = execute(MOVE_TAKEN, taken)
        else:
            moved = execute(MOVE, [list(refused), limit, min(refused, default=2**63 - 1) - 1])  # `moved` passes none
    if moved:
        execute(f"NOTIFY {CHANNEL}")
        FIGURES.count("contentapi_events_batches_total")
        FIGURES.count("contentapi_events_total", amount=moved)
    return moved


def begin_epoch() -> str:
    """Let all cursors expire, and return the new epoch. The relay does it itself if the database is another one."""
    prepare_partitions()
    epoch: str = fetch_column(f"UPDATE events_log SET epoch = {NEW_EPOCH} RETURNING epoch")[0]  # noqa: S608 - a constant
    return epoch
