"""The partitions of the log and of deliveries: one for each day, made ahead, and dropped as a whole when too old."""

import logging
from collections.abc import Mapping
from datetime import date, datetime, timedelta

from django.db import OperationalError, transaction
from psycopg.errors import LockNotAvailable

from contentapi.conf import conf
from contentapi.conf.timeouts import PARTITION_LOCK_TIMEOUT
from contentapi.db.statements import execute, fetch_column

LOG = logging.getLogger("contentapi.worker")
PARTITIONS_LOCK = 0x706172746974  # "partit": one worker makes partitions at a time
DAYS_AHEAD = 7
EVENTS = "events_event"
DELIVERIES = ("events_delivery", "events_attempt")
READ_NAMES = """
    SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = %s::regclass AND relname ~ ('^' || %s || '_[0-9]{8}$')
"""
NEW_EPOCH = "substr(md5(gen_random_uuid()::text), 1, 8)"
CREATE_LOG = f"""
    INSERT INTO events_log (id, epoch, server, position)
    SELECT 1, {NEW_EPOCH}, events_server(), coalesce(max(position), 0) FROM events_event ON CONFLICT DO NOTHING
"""  # noqa: S608 - a constant
# CREATE TABLE … PARTITION OF would wait for all readers of the log, and let others wait.
CREATE = """
    CREATE TABLE {name} (LIKE {table} INCLUDING DEFAULTS INCLUDING INDEXES);
    ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM ('{day}') TO ('{next_day}')
"""
EXPIRE = """
    UPDATE events_log SET expired = expirable.position
    FROM (SELECT max(position) AS position FROM events_event WHERE day < %s) AS expirable
    WHERE expired < expirable.position
"""


def prepare_partitions() -> None:
    """Make the missing partitions of today and of some days ahead, and the row of the log if it is missing.

    Webhooks then begin with the first event of the new log.
    """
    with transaction.atomic():
        execute("SELECT pg_advisory_xact_lock(%s)", [PARTITIONS_LOCK])
        if execute(CREATE_LOG):
            execute("UPDATE events_webhook SET position = 0")  # those in the backup are of another log
        today = read_today()
        for table in (EVENTS, *DELIVERIES):
            existing = list_partitions(table)
            for day in (today + timedelta(days=number) for number in range(DAYS_AHEAD + 1)):
                if day not in existing:
                    names = {"table": table, "name": f"{table}_{day:%Y%m%d}"}
                    execute(CREATE.format(**names, day=day, next_day=day + timedelta(days=1)))


def look_at_all_events() -> None:
    """Let the relay pass over no row of the outbox: somebody has set its sequence back, or has copied rows into it."""
    execute("UPDATE events_log SET moved = 0 WHERE moved >= (SELECT min(id) FROM events_outbox)")


def expire_events() -> None:
    """Let no reader begin with events older than CONTENTAPI_EVENTS_KEEP, and drop the partitions of earlier ones.

    Those had expired before, and are a day older: no reader that has just begun reads one that is being dropped.
    """
    oldest = read_today() - timedelta(days=conf.environment.contentapi_events_keep)
    [expired] = fetch_column("SELECT expired FROM events_log")
    execute(EXPIRE, [oldest])
    for table in (EVENTS, *DELIVERIES):
        for day, name in sorted(list_partitions(table).items()):
            if day < oldest - timedelta(days=1):
                later = f"SELECT 1 FROM {name} WHERE position > %s LIMIT 1"  # noqa: S608 - a name of ours
                is_in_use = table == EVENTS and fetch_column(later, [expired])
                if not is_in_use and not drop_partition(name):
                    return


def drop_partition(name: str) -> bool:
    """Drop a partition, unless a transaction uses the log for long, as a backup does. Return whether it is dropped."""
    try:
        with transaction.atomic():
            execute(f"SET LOCAL lock_timeout = '{PARTITION_LOCK_TIMEOUT}s'")  # others wait behind this
            execute(f"DROP TABLE {name}")
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable):
            raise
        return False
    LOG.info("Dropped %s: its rows are older than CONTENTAPI_EVENTS_KEEP.", name)
    return True


def list_partitions(table: str = EVENTS) -> Mapping[date, str]:
    """Return the names of the partitions of a table by their days."""
    names = fetch_column(READ_NAMES, [table, table])
    return {datetime.strptime(name[-8:], "%Y%m%d").date(): name for name in names}  # noqa: DTZ007 - a day in UTC


def read_today() -> date:
    today: date = fetch_column("SELECT (now() AT TIME ZONE 'UTC')::date")[0]
    return today
