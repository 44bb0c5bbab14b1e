"""System checks of the environment variables: an error with a hint for each invalid one."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import Error, register, run_checks

from contentapi.conf import environment
from contentapi.conf.environment import STATEMENTS_PER_TIMEOUT, Environment, build_error

START_TAG = "start"  # what every process needs
DESK_TAG = "desk"  # what a server needs besides: the pages of the desk, whose modules take a third of a start
RANDOM = "python3 -c 'import secrets; print(secrets.token_urlsafe(50))'"
DATABASE = "postgresql://user:password@host:5432/name"
ESCAPES = "in a password, write @ : / ? , and % as %40 %3A %2F %3F %2C and %25."
SHUTDOWN = "Increase it, or unset it: its default follows CONTENTAPI_STATEMENT_TIMEOUT."
COLLECTOR = "Write it as http://collector.example.com:4318."
HINTS = {
    "DATABASE_URL": f"Write it as {DATABASE}; {ESCAPES}",
    "DATABASE_REPLICA_URLS": "Set DATABASE_URL to the primary. Write each replica, separated by commas, as "
    f"{DATABASE}; {ESCAPES}",
    "SECRET_KEY": f"Set it to 50 random characters or more, the same for every process: {RANDOM}.",
    "REDIS_URL": "Write it as redis://user:password@host:6379/0, rediss:// for TLS, or unix:///path/to/redis.sock; "
    + ESCAPES,
    "EMAIL_URL": "Write it as smtp://user:password@host:587?from=desk@example.com, smtps:// for TLS from the start, or "
    f"file:///path/to/folder; {ESCAPES} The links in mails begin with CONTENTAPI_PUBLIC_URL.",
    "CONTENTAPI_MEDIA_URL": "Set it to the address under which clients read the bucket, its own or that of a CDN.",
    "CONTENTAPI_WORKER_TIMEOUT": SHUTDOWN,
    "CONTENTAPI_SHUTDOWN_TIMEOUT": SHUTDOWN,
    "OTEL_EXPORTER_OTLP_ENDPOINT": COLLECTOR,
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": COLLECTOR,
}


@register(START_TAG)
def check_environment(**_: Any) -> list[Error]:
    broken = [(name, rule) for name, is_broken, rule in list_rules(settings.ENVIRONMENT) if is_broken]
    return [*settings.ENVIRONMENT_ERRORS, *(build_error(name, f"{name} {rule}.", HINTS[name]) for name, rule in broken)]


def require_valid_start() -> None:
    """Exit with all errors that prevent a start. A server calls this; a command runs those of `START_TAG`, or all."""
    if errors := sorted(run_checks(tags=[START_TAG, DESK_TAG]), key=lambda error: str(error.id)):
        raise SystemExit("\n".join(f"{error.id}: {error.msg}\n\tHINT: {error.hint}" for error in errors))


def list_rules(given: Environment) -> list[tuple[str, bool, str]]:
    """Return the rules: variable, whether it is broken, and text. No text has an address, which may have a password."""
    database, redis, email = given.database_url, given.redis_url, given.email_url
    is_postgres = database.startswith(("postgresql://", "postgres://"))
    is_bucket = given.contentapi_media.startswith("s3://")
    statement = given.contentapi_statement_timeout
    least = STATEMENTS_PER_TIMEOUT * statement  # the database ends a statement before the server ends the worker
    limit = f"must be at least {least} ({STATEMENTS_PER_TIMEOUT} times CONTENTAPI_STATEMENT_TIMEOUT, {statement}), not "
    worker, shutdown = given.contentapi_worker_timeout, given.contentapi_shutdown_timeout
    collector, unreadable = "is not the address of an OpenTelemetry collector", "cannot be read, or names no database"
    required = "is required when DATABASE_URL is set"
    no_mail = "is not the address of a mail server, or names no sender"
    no_public_url = "requires CONTENTAPI_PUBLIC_URL when DATABASE_URL is set"
    no_media_url = is_bucket and not given.contentapi_media_url
    return [
        ("DATABASE_URL", bool(database) and not is_postgres, "is not the address of a PostgreSQL database"),
        ("DATABASE_URL", is_postgres and not is_database_url(database), unreadable),
        ("SECRET_KEY", bool(database) and not given.secret_key, required),
        ("DATABASE_REPLICA_URLS", bool(given.database_replica_urls) and not database, "requires DATABASE_URL"),
        *(
            ("DATABASE_REPLICA_URLS", not is_database_url(url), f"has an address, number {number}, that {unreadable}")
            for number, url in enumerate(given.database_replica_urls, start=1)
        ),
        ("REDIS_URL", bool(redis) and not is_redis_url(redis), "is not the address of a Redis"),
        ("EMAIL_URL", bool(email) and not environment.parse_email_url(email), no_mail),
        ("EMAIL_URL", bool(email and database and not given.contentapi_public_url), no_public_url),
        ("CONTENTAPI_MEDIA_URL", no_media_url, "is required when CONTENTAPI_MEDIA is a bucket"),
        ("CONTENTAPI_WORKER_TIMEOUT", worker < least, f"{limit}{worker}"),
        ("CONTENTAPI_SHUTDOWN_TIMEOUT", shutdown < least, f"{limit}{shutdown}"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", not is_http_url(given.otel_exporter_otlp_endpoint), collector),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", not is_http_url(given.otel_exporter_otlp_traces_endpoint), collector),
    ]


def is_database_url(url: str) -> bool:
    parameters = environment.parse_database_url(url) if url.startswith(("postgresql://", "postgres://")) else {}
    return bool(parameters.get("dbname")) and str(parameters.get("connect_timeout", "0")).isdecimal()


def is_http_url(url: str) -> bool:
    """Return whether this is an address with a host, or empty."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # an invalid port raises `ValueError`
    except ValueError:
        return False
    return not url or (parts.scheme in ("http", "https") and bool(parts.hostname))


def is_redis_url(url: str) -> bool:
    """Return whether redis-py can parse this address and uses the database that it names."""
    from redis import Redis  # takes a tenth of a second: import it only if there is a Redis

    try:
        parts = urlsplit(url)
        Redis.from_url(url)  # does not connect
    except ValueError:
        return False
    database = parts.path.strip("/")
    if parts.scheme == "unix":
        return bool(database)
    return bool(parts.hostname) and (database.isdecimal() or not database)
