"""Register a system check that looks at a running deployment: at its database, its Redis, its keys and its disks.

It runs only if the caller permits the use of a database, as `doctor` and `check --deploy --database default` do. A
problem must be solved, and a warning is worth knowing. Messages contain no secret.
"""

import platform
import shutil
import tempfile
from collections.abc import Callable, Collection
from contextlib import closing
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from django.conf import settings
from django.core import checks as system_checks
from django.core.checks import CheckMessage

from contentapi.bootstrap import is_optimised
from contentapi.conf import conf
from contentapi.conf.timeouts import DATABASE_CHECK_LIMIT, EVENTS_DELAY_LIMIT
from contentapi.db.watch.link import DeadlineConnection, QueryFailed
from contentapi.db.watch.servers import SERVERS
from contentapi.health import CONNECTIONS_OF_STREAMS, CONNECTIONS_OF_WORKER, checks
from contentapi.health.heartbeat import NO_WORKER, START
from contentapi.health.results import CheckResult, Results, failed, run_check
from contentapi.media.access import find_media_folder

DEPLOYMENT_TAG = "deployment"
LEVELS = {"failed": system_checks.ERROR, "warning": system_checks.WARNING}
OLDEST_VERSION = 14
LEAST_FREE_SPACE = 1024**3  # bytes
LEAST_FREE_SHARE = 0.05  # of the disk

Facts = dict[str, Any]
READ_FACTS = """
    SELECT json_build_object(
      'version', current_setting('server_version_num')::int / 10000,
      'bytes', pg_database_size(current_database()),
      'backend', pg_backend_pid(),
      'settings', (SELECT json_object_agg(name, setting::int) FROM pg_settings WHERE name IN ('statement_timeout',
        'lock_timeout', 'max_connections', 'superuser_reserved_connections', 'reserved_connections')),
      'events', (SELECT extract(epoch FROM clock_timestamp() - "timestamp")::bigint
        FROM events_outbox ORDER BY id LIMIT 1),
      'partitions', (SELECT count(*) FROM pg_inherits WHERE inhparent = 'events_event'::regclass
        AND inhrelid::regclass::text ~ '^events_event_[0-9]{8}$'
        AND right(inhrelid::regclass::text, 8) > to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')),
      'workers', (SELECT count(*) FROM contentapi_jobheartbeat WHERE job = 'partitions'),
      'webhooks', (SELECT json_build_object(
        'enabled', count(*) FILTER (WHERE disabled_at IS NULL),
        'late', extract(epoch FROM clock_timestamp() - min(due_at) FILTER (WHERE disabled_at IS NULL))::bigint,
        'failing', string_agg(id::text, ', ' ORDER BY id) FILTER (
          WHERE disabled_at IS NULL AND failing_since < clock_timestamp() - interval '1 hour'),
        'disabled', string_agg(id::text, ', ' ORDER BY id) FILTER (WHERE disabled_reason NOT IN ('', 'person'))
      ) FROM events_webhook))
"""


@system_checks.register(DEPLOYMENT_TAG, system_checks.Tags.database, deploy=True)
def check_deployment(databases: Collection[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Return a message for each result. Its hint is the remedy, and it says what is as it should be, too."""
    return [build_message(name, result) for name, result in examine().items()] if databases else []


def build_message(name: str, result: CheckResult) -> CheckMessage:
    level = LEVELS.get(result.status, system_checks.INFO)
    remedy = None if result.status == "ok" else result.remedy or None
    return CheckMessage(level, result.reason or "No problem is found.", remedy, id=f"{DEPLOYMENT_TAG}.{name}")


def examine() -> Results:
    """Return the results of all checks. One that raises an error does not end the others."""
    results = run_check(("database",), examine_database)
    single: dict[str, Callable[[], CheckResult]] = {
        "keys": checks.check_keys,
        "python": check_python,
        "redis": check_redis,
        "media": checks.check_storage,
        "disk": check_disks,
    }
    if SERVERS.replicas:
        single["replicas"] = checks.check_replicas
    for name, check in single.items():
        results |= run_check((name,), partial(lambda name, check: {name: check()}, name, check))
    return results


def examine_database() -> Results:
    """Return all that is found, on a connection like that of a server: a pooler can drop the options of a session."""
    expected = conf.environment.contentapi_statement_timeout
    options = f"-c statement_timeout={expected} -c lock_timeout={min(2000, expected)}"
    with closing(DeadlineConnection(options=options)) as connection:
        results = checks.check_database(connection, DATABASE_CHECK_LIMIT)
        database = results["database"]
        if database.is_problem:
            return {"database": database._replace(reason=f"{database.reason} Nothing else about it was checked.")}
        if results["worker"] == NO_WORKER:
            message = "No worker has run on this database: scheduled posts and uploaded zip files wait."
            results["worker"] = CheckResult("warning", message, START)
        try:
            ((facts,),) = connection.query(READ_FACTS, monotonic() + DATABASE_CHECK_LIMIT)
        except QueryFailed as error:
            results["database"] = CheckResult("skipped", f"Not checked: its state. {error}", "Apply the migrations.")
            return results
        facts["pooled"] = connection.is_pooled(facts["backend"])
    return results | {name: check(facts) for name, check in FACT_CHECKS.items()}


def judge(message: str, remedy: str, *, is_problem: bool) -> CheckResult:
    """Return the result of a check whose message is the same with a problem and without one."""
    return CheckResult("failed" if is_problem else "ok", message, remedy)


def check_version(facts: Facts) -> CheckResult:
    message = f"PostgreSQL is version {facts['version']}; the database has {format_bytes(facts['bytes'])}."
    remedy = f"Use version {OLDEST_VERSION} or newer."
    return judge(message, remedy, is_problem=facts["version"] < OLDEST_VERSION)


def check_time_limits(facts: Facts) -> CheckResult:
    statements, locks = (facts["settings"][name] for name in ("statement_timeout", "lock_timeout"))
    if statements and locks:
        return CheckResult("ok", f"A statement ends after {statements} ms, and waiting for a lock after {locks} ms.")
    expected = conf.environment.contentapi_statement_timeout
    limits = {"statement_timeout": expected, "lock_timeout": min(2000, expected)}
    missing = " and ".join(name for name in limits if not facts["settings"][name])
    remedy = "; ".join(f"ALTER ROLE <user> SET {name} = '{limit}ms'" for name, limit in limits.items())
    return failed(f"{missing} are not in effect: a pooler drops the options of sessions.", remedy)


def check_connections(facts: Facts) -> CheckResult:
    """Compare the connections that this host may open with those that PostgreSQL has."""
    environment, found = conf.environment, facts["settings"]
    needed = environment.web_concurrency * (environment.contentapi_threads + 2)
    needed += CONNECTIONS_OF_WORKER + CONNECTIONS_OF_STREAMS
    reserved = found["superuser_reserved_connections"] + found.get("reserved_connections", 0)  # since version 16
    available = found["max_connections"] - reserved
    if facts["pooled"]:
        return CheckResult("ok", "A pooler is in front of PostgreSQL. Its limits apply to the servers' connections.")
    message = f"This host may open {needed} connections, and PostgreSQL has {available} for all hosts."
    remedy = "Raise max_connections, or lower WEB_CONCURRENCY or CONTENTAPI_THREADS, or use a pooler."
    return judge(message, remedy, is_problem=needed > available)


def check_events(facts: Facts) -> CheckResult:
    """Compare the outbox and the partitions of the log of events with what the worker makes of them."""
    remedy = "Start one worker: python manage.py worker (its log says what is wrong)"
    if facts["workers"] and not facts["partitions"]:
        return failed("The log of events has no partition for tomorrow.", remedy)
    age = facts["events"] or 0
    message = f"Events have been waiting for {age:,} seconds; {facts['partitions']} partitions are ahead."
    return judge(message, remedy, is_problem=age > EVENTS_DELAY_LIMIT)


def check_webhooks(facts: Facts) -> CheckResult:
    """Find webhooks that are late, that fail, and that the worker has disabled."""
    found = facts["webhooks"]
    faults = []
    if (late := found["late"] or 0) > EVENTS_DELAY_LIMIT:
        faults.append(f"A webhook has had something to send for {late:,} seconds. Is one worker running, and enough?")
    if found["failing"]:
        faults.append(f"These webhooks have failed for an hour: {found['failing']}.")
    if found["disabled"]:
        faults.append(f"The worker has disabled these webhooks: {found['disabled']}.")
    if not faults:
        return CheckResult("ok", f"{found['enabled']} are enabled; none is late, and none has failed for an hour.")
    remedy = "The desk has the responses of the receivers. Enable a webhook there when its receiver works again."
    return CheckResult("warning", " ".join(faults), remedy)


FACT_CHECKS: dict[str, Callable[[Facts], CheckResult]] = {
    "database": check_version,
    "time_limits": check_time_limits,
    "connections": check_connections,
    "events": check_events,
    "webhooks": check_webhooks,
}


def check_python() -> CheckResult:
    kind = "an optimised" if is_optimised() else "a slow"
    hint = "" if is_optimised() else ": one with --enable-optimizations executes an eighth fewer instructions"
    return CheckResult("ok", f"Python {platform.python_version()} is {kind} build{hint}.")


def check_redis() -> CheckResult:
    if conf.environment.redis_url:
        return checks.check_redis()
    message = "REDIS_URL is not set: each worker process counts rate limits alone."
    return CheckResult("skipped", message, "Set REDIS_URL if several processes serve.")


def check_disks() -> CheckResult:
    """Check the free space of the disks of generated, uploaded and media files."""
    found, is_full = [], False
    for path in list_disks():
        total, _, free = shutil.disk_usage(path)
        found.append(f"{format_bytes(free)} of {format_bytes(total)} are free in {path}")
        is_full = is_full or free < max(LEAST_FREE_SPACE, LEAST_FREE_SHARE * total)
    return judge(f"{'; '.join(found)}.", "Delete files, or enlarge the disk.", is_problem=is_full)


def list_disks() -> list[Path]:
    """Return one folder of each disk."""
    by_disk: dict[int, Path] = {}
    for folder in (settings.VAR_DIR, Path(tempfile.gettempdir()), find_media_folder() or settings.VAR_DIR):
        existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        by_disk.setdefault(existing.stat().st_dev, existing)
    return [*by_disk.values()]


def format_bytes(size: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
