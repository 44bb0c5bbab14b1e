"""The checks of a deployment's database. Each function reads what it needs by one statement."""

import time
from collections.abc import Callable
from time import monotonic

from django.core.checks import CheckMessage

from contentapi.conf import conf
from contentapi.conf.timeouts import DATABASE_CHECK_LIMIT, EVENTS_DELAY_LIMIT, LARGEST_CLOCK_DRIFT
from contentapi.db.distribution import REMEDIES
from contentapi.db.watch.link import DatabaseUnavailable, DeadlineConnection, QueryFailed, Rows
from contentapi.health import checks
from contentapi.health.deployment import Messages, describe_result, format_bytes, note, problem, register_check, warning

OLDEST_VERSION = 14
CONNECTIONS_OF_WORKER = 17  # one for each job, and one for the heartbeat
CONNECTIONS_OF_STREAMS = 9  # of their process: readers, the follower, requests, credentials, readiness
Inspection = Callable[[DeadlineConnection], Messages]


@register_check
def check_database() -> Messages:
    """Yield all that is found. If the database is not available, yield that, and skip the rest."""
    connection = DeadlineConnection()
    try:
        results = checks.check_database(connection, DATABASE_CHECK_LIMIT)
        if results["database"].is_problem:
            remedy = "Start PostgreSQL, or correct DATABASE_URL. Check firewalls between this host and PostgreSQL."
            remedy = REMEDIES.get(results["database"].reason, remedy)
            yield problem("database", f"{results['database'].reason} Nothing else about it was checked.", remedy)
            return
        yield describe_result("migrations", results["migrations"], "All are applied.", "python manage.py migrate")
        yield describe_worker(results["worker"].status, results["worker"].reason)
        for inspect in INSPECTIONS:
            yield from run_inspection(inspect, connection)
    finally:
        connection.close()


def run_inspection(inspect: Inspection, connection: DeadlineConnection) -> Messages:
    """Yield what one inspection finds. One that fails does not end the others."""
    try:
        yield from list(inspect(connection))
    except (DatabaseUnavailable, QueryFailed) as error:
        name = inspect.__name__.removeprefix("inspect_").replace("_", " ")
        yield note("database", f"Not checked: {name}. {error}", "Grant the role pg_monitor to the user.")


def query(connection: DeadlineConnection, sql: str) -> Rows:
    return connection.query(sql, monotonic() + DATABASE_CHECK_LIMIT)


def describe_worker(status: str, reason: str) -> CheckMessage:
    start = "Start one worker: python manage.py worker"
    if status == "failed":
        retire = "If this deployment needs none any more: python manage.py worker --retire"
        return problem("worker", reason, f"{start} (restart it if it hangs; its log says why). {retire}")
    if status == "skipped":
        message = "No worker has run on this database: scheduled posts and uploaded zip files wait."
        return warning("worker", message, start)
    return note("worker", "A worker is alive, and its jobs make progress.")


def inspect_version(connection: DeadlineConnection) -> Messages:
    ((number, size),) = query(
        connection, "SELECT current_setting('server_version_num'), pg_database_size(current_database())"
    )
    version = int(number or 0) // 10000
    if version < OLDEST_VERSION:
        yield problem("database", f"PostgreSQL is version {version}.", f"Use version {OLDEST_VERSION} or newer.")
    else:
        yield note("database", f"PostgreSQL is version {version}; the database has {format_bytes(int(size or 0))}.")


def inspect_time_limits(_: DeadlineConnection) -> Messages:
    """Connect as a server does: a pooler can drop the options of a session."""
    expected = conf.environment.contentapi_statement_timeout
    as_server = DeadlineConnection(options=f"-c statement_timeout={expected} -c lock_timeout={min(2000, expected)}")
    try:
        ((statements, locks),) = query(
            as_server,
            "SELECT (SELECT setting FROM pg_settings WHERE name = 'statement_timeout'),"
            " (SELECT setting FROM pg_settings WHERE name = 'lock_timeout')",
        )
    finally:
        as_server.close()
    missing = [name for name, value in (("statement_timeout", statements), ("lock_timeout", locks)) if value == "0"]
    if missing:
        message = f"{' and '.join(missing)} are not in effect: a pooler drops the options of sessions."
        remedy = "; ".join(f"ALTER ROLE <user> SET {name} = '{limit}'" for name, limit in describe_limits(expected))
        yield problem("time_limits", message, remedy)
    else:
        yield note("time_limits", f"A statement ends after {statements} ms, and waiting for a lock after {locks} ms.")


def describe_limits(milliseconds: int) -> list[tuple[str, str]]:
    return [("statement_timeout", f"{milliseconds}ms"), ("lock_timeout", f"{min(2000, milliseconds)}ms")]


def inspect_connections(connection: DeadlineConnection) -> Messages:
    """Compare the connections that this host may open with those that PostgreSQL has."""
    ((pid, total, reserved),) = query(
        connection,
        "SELECT pg_backend_pid(), current_setting('max_connections'),"
        " (SELECT sum(setting::int) FROM pg_settings"
        "  WHERE name IN ('superuser_reserved_connections', 'reserved_connections'))",
    )
    environment = conf.environment
    needed = environment.web_concurrency * (environment.contentapi_threads + 2)
    needed += CONNECTIONS_OF_WORKER + CONNECTIONS_OF_STREAMS
    available = int(total or 0) - int(reserved or 0)
    if connection.is_pooled(pid):
        yield note(
            "connections", "A pooler is in front of PostgreSQL. Its own limits apply to the servers' connections."
        )
    elif needed > available:
        message = f"This host may open {needed} connections, and PostgreSQL has {available} for all hosts."
        remedy = "Raise max_connections, or lower WEB_CONCURRENCY or CONTENTAPI_THREADS, or use a pooler."
        yield problem("connections", message, remedy)
    else:
        yield note("connections", f"This host may open {needed} of {available} connections.")


def inspect_time(connection: DeadlineConnection) -> Messages:
    before = time.time()
    ((seconds,),) = query(connection, "SELECT extract(epoch FROM clock_timestamp())")
    drift = float(seconds or 0) - (before + time.time()) / 2
    if abs(drift) > LARGEST_CLOCK_DRIFT:
        message = f"The time of the database differs by {drift:+.1f} seconds from that of this host."
        yield problem("time", message, "Synchronise both hosts by NTP.")
    else:
        yield note("time", f"The time of the database differs by {drift:+.3f} seconds from that of this host.")


def inspect_events(connection: DeadlineConnection) -> Messages:
    """Compare the outbox and the partitions of the log of events with what the worker makes of them."""
    ((age, ahead, workers),) = query(
        connection,
        """SELECT (SELECT extract(epoch FROM clock_timestamp() - "timestamp")::bigint
                   FROM events_outbox ORDER BY id LIMIT 1),
             (SELECT count(*) FROM pg_inherits WHERE inhparent = 'events_event'::regclass
              AND inhrelid::regclass::text ~ '^events_event_[0-9]{8}$'
              AND right(inhrelid::regclass::text, 8) > to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')),
             (SELECT count(*) FROM contentapi_jobheartbeat WHERE job = 'partitions')""",
    )
    remedy = "Start one worker: python manage.py worker (its log says what is wrong)"
    if int(age or 0) > EVENTS_DELAY_LIMIT:
        yield problem(
            "events", f"Events have been waiting for {int(age or 0):,} seconds: nobody can read them.", remedy
        )
    elif ahead == "0" and workers != "0":
        yield problem("events", "The log of events has no partition for tomorrow.", remedy)
    else:
        yield note("events", f"None waits for long; {ahead} partitions are ahead.")


def inspect_webhooks(connection: DeadlineConnection) -> Messages:
    """Find webhooks that are late, that fail, and that the worker has disabled."""
    ((age, failing, disabled, count),) = query(
        connection,
        """SELECT extract(epoch FROM clock_timestamp() - min(due_at) FILTER (WHERE disabled_at IS NULL))::bigint,
             string_agg(id::text, ', ' ORDER BY id) FILTER (
                 WHERE disabled_at IS NULL AND failing_since < clock_timestamp() - interval '1 hour'),
             string_agg(id::text, ', ' ORDER BY id) FILTER (WHERE disabled_reason NOT IN ('', 'person')),
             count(*) FILTER (WHERE disabled_at IS NULL)
           FROM events_webhook""",
    )
    if int(age or 0) > EVENTS_DELAY_LIMIT:
        remedy = "Start a worker: python manage.py worker. If one runs, a receiver is slow, or one worker is not enough"
        yield warning("webhooks", f"A webhook has had something to send for {int(age or 0):,} seconds.", remedy)
    if failing:
        remedy = "Look at their deliveries in the desk: they have the responses of the receivers"
        yield warning("webhooks", f"These webhooks have failed for an hour: {failing}.", remedy)
    if disabled:
        remedy = "Enable them in the desk when their receivers work again, or delete them"
        yield warning("webhooks", f"The worker has disabled these webhooks: {disabled}.", remedy)
    if not (failing or disabled or int(age or 0) > EVENTS_DELAY_LIMIT):
        yield note("webhooks", f"{count} are enabled; none is late, and none has failed for an hour.")


def inspect_replicas(_: DeadlineConnection) -> Messages:
    if checks.has_replicas():
        remedy = "Start the replica, or correct DATABASE_REPLICA_URLS."
        yield describe_result("replicas", checks.check_replicas(), "All respond.", remedy)


INSPECTIONS: tuple[Inspection, ...] = (
    inspect_version,
    inspect_time_limits,
    inspect_connections,
    inspect_time,
    inspect_events,
    inspect_webhooks,
    inspect_replicas,
)
