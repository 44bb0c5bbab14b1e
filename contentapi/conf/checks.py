"""System checks of the environment variables: one error for each invalid variable, with a hint.

`contentapi.auth.checks` adds the checks of the signing keys.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import Error, register, run_checks

from contentapi.conf.environment import (
    STATEMENTS_PER_TIMEOUT,
    Environment,
    build_error,
    parse_database_url,
    parse_email_url,
)

START_TAG = "start"
RANDOM = "python3 -c 'import secrets; print(secrets.token_urlsafe(50))'"


@register(START_TAG)
def check_environment(**_: Any) -> list[Error]:
    environment = settings.ENVIRONMENT
    return [
        *settings.ENVIRONMENT_ERRORS,
        *check_database_variables(environment),
        *check_replica_variable(environment),
        *check_redis_variable(environment),
        *check_email_variable(environment),
        *check_media_variables(environment),
        *check_timeouts(environment),
        *check_collector_variables(environment),
    ]


def require_valid_start() -> None:
    """Exit with all errors that prevent a start: of the environment, and of code and contracts that do not agree.

    A server calls this at its start; `manage.py` runs the checks itself.
    """
    errors = run_checks(tags=[START_TAG])
    if errors:
        errors.sort(key=lambda error: str(error.id))
        raise SystemExit("\n".join(f"{error.id}: {error.msg}\n\tHINT: {error.hint}" for error in errors))


def check_database_variables(environment: Environment) -> Iterator[Error]:
    """Check DATABASE_URL, and SECRET_KEY, which it requires. A message never contains the URL: it has a password."""
    if not environment.database_url:
        return
    example = "postgresql://user:password@host:5432/name"
    if not environment.database_url.startswith(("postgresql://", "postgres://")):
        yield build_error(
            "DATABASE_URL",
            "DATABASE_URL is not the address of a PostgreSQL database.",
            f"Write it as {example}.",
        )
    elif not is_usable_database_url(environment.database_url):
        yield build_error(
            "DATABASE_URL",
            "DATABASE_URL cannot be read, or names no database.",
            f"Write it as {example}; in the password, write @ : / and % as %40 %3A %2F and %25.",
        )
    if not environment.secret_key:
        yield build_error(
            "SECRET_KEY",
            "SECRET_KEY is required when DATABASE_URL is set.",
            f"Set it to 50 random characters or more, the same for every process: {RANDOM}.",
        )


def check_replica_variable(environment: Environment) -> Iterator[Error]:
    """Check DATABASE_REPLICA_URLS. A message names an address by its number: it has a password."""
    urls = environment.database_replica_urls
    if urls and not environment.database_url:
        yield build_error(
            "DATABASE_REPLICA_URLS",
            "DATABASE_REPLICA_URLS requires DATABASE_URL.",
            "Set DATABASE_URL to the address of the primary, or unset DATABASE_REPLICA_URLS.",
        )
    for number, url in enumerate(urls, start=1):
        if not url.startswith(("postgresql://", "postgres://")) or not is_usable_database_url(url):
            yield build_error(
                "DATABASE_REPLICA_URLS",
                f"Address {number} of DATABASE_REPLICA_URLS cannot be read, or names no database.",
                "Write each as postgresql://user:password@host:5432/name, separated by commas; in a password, write "
                "@ : / % and , as %40 %3A %2F %25 and %2C.",
            )


def is_usable_database_url(url: str) -> bool:
    parameters = parse_database_url(url)
    return bool(parameters.get("dbname")) and str(parameters.get("connect_timeout", "0")).isdecimal()


def check_redis_variable(environment: Environment) -> Iterator[Error]:
    """Check REDIS_URL. A message never contains it: it has a password."""
    if environment.redis_url and not is_redis_url(environment.redis_url):
        yield build_error(
            "REDIS_URL",
            "REDIS_URL is not the address of a Redis.",
            "Write it as redis://user:password@host:6379/0, rediss:// for TLS, or unix:///path/to/redis.sock; "
            "in the password, write @ : / and % as %40 %3A %2F and %25.",
        )


def check_email_variable(environment: Environment) -> Iterator[Error]:
    """Check EMAIL_URL, and CONTENTAPI_PUBLIC_URL, with which the links in mails begin. A message never contains it."""
    if environment.email_url and not parse_email_url(environment.email_url):
        yield build_error(
            "EMAIL_URL",
            "EMAIL_URL is not the address of a mail server, or names no sender.",
            "Write it as smtp://user:password@host:587?from=desk@example.com, smtps:// for TLS from the start, or "
            "file:///path/to/folder; in the password, write @ : / ? and % as %40 %3A %2F %3F and %25.",
        )
    if environment.email_url and environment.database_url and not environment.contentapi_public_url:
        yield build_error(
            "EMAIL_URL",
            "EMAIL_URL requires CONTENTAPI_PUBLIC_URL when DATABASE_URL is set.",
            "Set CONTENTAPI_PUBLIC_URL to the origin with which the links in mails begin.",
        )


def check_media_variables(environment: Environment) -> Iterator[Error]:
    """Check that the files in a bucket have a public address."""
    if environment.contentapi_media.startswith("s3://") and not environment.contentapi_media_url:
        yield build_error(
            "CONTENTAPI_MEDIA_URL",
            "CONTENTAPI_MEDIA_URL is required when CONTENTAPI_MEDIA is a bucket.",
            "Set it to the address under which clients read the bucket: of a CDN before it, or its own.",
        )


def check_timeouts(environment: Environment) -> Iterator[Error]:
    """Check that the database ends a statement before the server ends the worker."""
    statement = environment.contentapi_statement_timeout
    least = STATEMENTS_PER_TIMEOUT * statement
    for variable in ("CONTENTAPI_WORKER_TIMEOUT", "CONTENTAPI_SHUTDOWN_TIMEOUT"):
        value = getattr(environment, variable.lower())
        if value < least:
            yield build_error(
                variable,
                f"{variable} must be at least {least} ({STATEMENTS_PER_TIMEOUT} times CONTENTAPI_STATEMENT_TIMEOUT, "
                f"{statement}), not {value}.",
                f"Increase {variable}, or unset it: its default follows CONTENTAPI_STATEMENT_TIMEOUT.",
            )


def check_collector_variables(environment: Environment) -> Iterator[Error]:
    """Check the addresses of the OpenTelemetry collector. A message never contains one: it may have a password."""
    for name in ("otel_exporter_otlp_endpoint", "otel_exporter_otlp_traces_endpoint"):
        url = getattr(environment, name)
        if url and not is_http_url(url):
            message = f"{name.upper()} is not the address of an OpenTelemetry collector."
            yield build_error(name.upper(), message, "Write it as http://collector.example.com:4318.")


def is_http_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port  # an invalid port raises `ValueError`
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


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
