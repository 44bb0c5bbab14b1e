"""Which values each variable accepts, and the problem of any other value."""

from typing import get_args, get_type_hints

import pytest

from contentapi.conf.environment import Environment, Words, read_environment

INVALID_RATES = [
    "off",
    "300",
    "0/minute",
    "300/week",
    "-1/minute",
    "1.5/second",
    "300 per minute",
    "1/minute;2/hour",
    "5/0minutes",
]
VALID_RATES = ["300/minute", "1/second", "5/10seconds", "100000/hours", "999999999/day"]
INVALID = {
    "CONTENTAPI_STREAM_PORT": ["0", "65536", "stream"],
    "CONTENTAPI_STREAM_URL": ["stream.example.com", "https://stream.example.com/graphql"],
    "PORT": ["0", "65536", "-1", "http", "80.5", "8_000", "8000,8001"],
    "WEB_CONCURRENCY": ["0", "-2", "many", "2147483648"],
    "CONTENTAPI_DOCUMENT_CACHE": ["0", "-1", "256k"],
    "CONTENTAPI_DISTRIBUTED": ["on", "Citus"],
    "CONTENTAPI_DOCUMENTS": ["all", "Trusted"],
    "CONTENTAPI_PERSISTED_CACHE": ["0", "-1", "1M"],
    "CONTENTAPI_EVENTS_KEEP": ["0", "a month"],
    "CONTENTAPI_FAST_PATH": ["yes", "ON"],
    "CONTENTAPI_HTTPS": ["yes", "true", "1", "ON"],
    "CONTENTAPI_IMAGE_AVIF": ["yes", "ON"],
    "CONTENTAPI_IMAGE_MAX_BYTES": ["0", "25MB"],
    "CONTENTAPI_IMAGE_QUOTA": ["0", "10GB"],
    "CONTENTAPI_INTROSPECTION": ["no", "OFF"],
    "CONTENTAPI_INTROSPECTION_CACHE": ["0", "1M"],
    "CONTENTAPI_LOG_FORMAT": ["JSON", "logfmt"],
    "OTEL_EXPORTER_OTLP_PROTOCOL": ["grpc", "http/json"],
    "CONTENTAPI_LOG_LEVEL": ["debug", "LOUD", "10"],
    "CONTENTAPI_LOG_SAMPLE": ["-0.1", "1.1", "10%", "nan"],
    "CONTENTAPI_LOG_SAMPLE_HEALTH": ["-0.1", "1.1", "all"],
    "CONTENTAPI_MAX_ALIASES": ["0", "many"],
    "CONTENTAPI_MAX_ATOMIC_MUTATIONS": ["0", "many"],
    "CONTENTAPI_MAX_COMPARISONS": ["0", "many"],
    "CONTENTAPI_MAX_DIRECTIVES": ["0", "many"],
    "CONTENTAPI_MAX_INTROSPECTION_DEPTH": ["0", "many"],
    "CONTENTAPI_MAX_MUTATIONS": ["0", "many"],
    "CONTENTAPI_MAX_RESPONSE": ["0", "16MiB", "2147483648"],
    "CONTENTAPI_MAX_ROOT_FIELDS": ["0", "many"],
    "CONTENTAPI_MAX_BODY": ["0", "1MiB", "1.5"],
    "CONTENTAPI_MAX_COST": ["0", "much"],
    "CONTENTAPI_MAX_DEPTH": ["0", "deep"],
    "CONTENTAPI_MAX_FIELDS": ["0", "many"],
    "CONTENTAPI_MAX_PAGE": ["99", "all"],
    "CONTENTAPI_MAX_QUERY_LENGTH": ["0", "32k"],
    "CONTENTAPI_MAX_TOKENS": ["0", "none"],
    "CONTENTAPI_MAX_VALUES": ["0", "many"],
    "CONTENTAPI_MEDIA": ["https://bucket.s3.amazonaws.com", "s3://", "s3://b", "a folder"],
    "CONTENTAPI_WEBHOOK_NETWORKS": ["10.0.0.1/8", "999.0.0.0/8", "example.com", "10.0.0.0/33"],
    "CONTENTAPI_MEDIA_URL": ["cdn.example.com", "https://cdn.example.com/", "https://cdn.example.com?a=b"],
    "CONTENTAPI_METRICS_BIND": ["9100", "127.0.0.1", "127.0.0.1:0", "http://127.0.0.1:9100", "127.0.0.1:9100/metrics"],
    "CONTENTAPI_RATE_ANONYMOUS": INVALID_RATES,
    "CONTENTAPI_RATE_AUTHENTICATED": INVALID_RATES,
    "CONTENTAPI_RATE_LOGIN": INVALID_RATES,
    "CONTENTAPI_RATE_LOGIN_ACCOUNT": INVALID_RATES,
    "CONTENTAPI_RATE_LOGIN_ADDRESS": INVALID_RATES,
    "CONTENTAPI_RATE_PREVIEWS": INVALID_RATES,
    "CONTENTAPI_RATE_TOKENS": INVALID_RATES,
    "CONTENTAPI_RATE_WRITES": INVALID_RATES,
    "CONTENTAPI_PUBLIC_URL": [
        "api.example.com",
        "https://",
        "https://api.example.com/",
        "https://api.example.com/v1",
        "https://API.example.com",
        "https://user@api.example.com",
        "https://api.example.com?x",
        "https://api.example.com:",
        "https://api example.com",
        "ftp://api.example.com",
    ],
    "CONTENTAPI_SITE_POST_URL": [
        "https://www.example.com/blog",
        "www.example.com/{slug}",
        "https://{slug}",
        "https://www.example.com/{id}/{slug}",
    ],
    "CONTENTAPI_PREVIEW_URL": [
        "https://www.example.com/{slug}",
        "www.example.com/{token}",
        "https://{token}",
        "https://www.example.com/{token}?{name}",
        "https://www.example.com/{token} and more",
        " ".join(f"site{number}=https://www.example.com/{{token}}" for number in range(5)),
    ],
    "CONTENTAPI_SEARCH_LANGUAGE": ["klingon", "English", "en", "pg_catalog.english"],
    "CONTENTAPI_SERVER_THREADS": ["0", "many"],
    "CONTENTAPI_SHUTDOWN_TIMEOUT": ["0", "30s"],
    "CONTENTAPI_STATEMENT_CACHE": ["0", "1M", "2147483648"],
    "CONTENTAPI_STATEMENT_TIMEOUT": ["0", "5s"],
    "CONTENTAPI_THREADS": ["0", "four"],
    "CONTENTAPI_REPLICA_MAX_LAG": ["0", "999", "5s"],
    "CONTENTAPI_FORWARDED_HEADER": ["forwarded", "X_Forwarded_For", "X-Real-IP"],
    "CONTENTAPI_TRUSTED_PROXIES": ["-1", "all", "101"],
    "CONTENTAPI_WORKER_MAX_MEMORY": ["0", "1GB"],
    "CONTENTAPI_WORKER_MAX_REQUESTS": ["0", "off"],
    "CONTENTAPI_WORKER_TIMEOUT": ["0", "30s"],
}
VALID = {
    "CONTENTAPI_STREAM_PORT": ["1", "65535"],
    "CONTENTAPI_STREAM_URL": ["https://stream.example.com", "http://localhost:8100"],
    "PORT": ["1", "65535", " 8001 "],
    "WEB_CONCURRENCY": ["1", "64"],
    "CONTENTAPI_DOCUMENT_CACHE": ["1", "262144"],
    "CONTENTAPI_DISTRIBUTED": ["citus"],
    "CONTENTAPI_DOCUMENTS": ["any", "trusted"],
    "CONTENTAPI_PERSISTED_CACHE": ["1", "1048576"],
    "CONTENTAPI_EVENTS_KEEP": ["1", "365"],
    "CONTENTAPI_FAST_PATH": ["on", "off"],
    "CONTENTAPI_HTTPS": ["on", "off"],
    "CONTENTAPI_IMAGE_AVIF": ["on", "off"],
    "CONTENTAPI_IMAGE_MAX_BYTES": ["1", "2147483647"],
    "CONTENTAPI_IMAGE_QUOTA": ["1", "1000000000000"],
    "CONTENTAPI_INTROSPECTION": ["on", "off"],
    "CONTENTAPI_INTROSPECTION_CACHE": ["1", "2097152"],
    "CONTENTAPI_LOG_FORMAT": ["auto", "json", "text"],
    "OTEL_EXPORTER_OTLP_PROTOCOL": ["http/protobuf"],
    "CONTENTAPI_LOG_LEVEL": ["DEBUG", "INFO", "WARNING", "ERROR"],
    "CONTENTAPI_LOG_SAMPLE": ["0.0", "0.01", "1.0"],
    "CONTENTAPI_LOG_SAMPLE_HEALTH": ["0.0", "0.5", "1.0"],
    "CONTENTAPI_MAX_ALIASES": ["1", "100"],
    "CONTENTAPI_MAX_ATOMIC_MUTATIONS": ["1", "100"],
    "CONTENTAPI_MAX_COMPARISONS": ["1", "100"],
    "CONTENTAPI_MAX_DIRECTIVES": ["1", "100"],
    "CONTENTAPI_MAX_INTROSPECTION_DEPTH": ["1", "100"],
    "CONTENTAPI_MAX_MUTATIONS": ["1", "100"],
    "CONTENTAPI_MAX_RESPONSE": ["1", "33554432"],
    "CONTENTAPI_MAX_ROOT_FIELDS": ["1", "100"],
    "CONTENTAPI_MAX_BODY": ["1", "2147483647"],
    "CONTENTAPI_MAX_COST": ["1", "25000"],
    "CONTENTAPI_MAX_DEPTH": ["1", "20"],
    "CONTENTAPI_MAX_FIELDS": ["1", "10000"],
    "CONTENTAPI_MAX_PAGE": ["100", "1000"],
    "CONTENTAPI_MAX_QUERY_LENGTH": ["1", "65536"],
    "CONTENTAPI_MAX_TOKENS": ["1", "9999"],
    "CONTENTAPI_MAX_VALUES": ["1", "100"],
    "CONTENTAPI_MEDIA": ["var/media", "/srv/media", "s3://bucket", "s3://bucket/a/b?endpoint=http://localhost:9000"],
    "CONTENTAPI_WEBHOOK_NETWORKS": ["10.0.0.0/8", "10.0.0.0/8,fd00::/8", "127.0.0.1/32 ::1/128"],
    "CONTENTAPI_MEDIA_URL": ["https://cdn.example.com", "http://localhost:9000/bucket"],
    "CONTENTAPI_METRICS_BIND": ["127.0.0.1:9100", ":9100", "[::1]:9100", "metrics.internal:65535"],
    "CONTENTAPI_RATE_ANONYMOUS": VALID_RATES,
    "CONTENTAPI_RATE_AUTHENTICATED": VALID_RATES,
    "CONTENTAPI_RATE_LOGIN": VALID_RATES,
    "CONTENTAPI_RATE_LOGIN_ACCOUNT": VALID_RATES,
    "CONTENTAPI_RATE_LOGIN_ADDRESS": VALID_RATES,
    "CONTENTAPI_RATE_PREVIEWS": VALID_RATES,
    "CONTENTAPI_RATE_TOKENS": VALID_RATES,
    "CONTENTAPI_RATE_WRITES": VALID_RATES,
    "CONTENTAPI_PUBLIC_URL": ["https://api.example.com", "http://localhost:8000", "http://[::1]:8000"],
    "CONTENTAPI_SITE_POST_URL": ["https://www.example.com/blog/{slug}", "http://localhost:3000/{slug}.html?a=b"],
    "CONTENTAPI_PREVIEW_URL": [
        "https://www.example.com/api/preview?token={token}&path=/blog/{slug}",
        "web=https://www.example.com/{slug}?p={token} my-app=http://localhost:3000/{id}/{token}",
        " ".join(f"site{number}=https://www.example.com/{{token}}" for number in range(4)),
    ],
    "CONTENTAPI_SEARCH_LANGUAGE": ["english", "german", "simple"],
    "CONTENTAPI_SERVER_THREADS": ["1", "512"],
    "CONTENTAPI_SHUTDOWN_TIMEOUT": ["20000", "600000"],
    "CONTENTAPI_STATEMENT_CACHE": ["1", "2147483647"],
    "CONTENTAPI_STATEMENT_TIMEOUT": ["1", "60000"],
    "CONTENTAPI_THREADS": ["1", "32"],
    "CONTENTAPI_REPLICA_MAX_LAG": ["1000", "60000"],
    "CONTENTAPI_FORWARDED_HEADER": ["Forwarded", "X-Forwarded-For"],
    "CONTENTAPI_TRUSTED_PROXIES": ["0", "2"],
    "CONTENTAPI_WORKER_MAX_MEMORY": ["1", "8000000000"],
    "CONTENTAPI_WORKER_MAX_REQUESTS": ["1", "1000000"],
    "CONTENTAPI_WORKER_TIMEOUT": ["20000", "600000"],
}


def test_every_variable_with_limits_has_examples() -> None:
    hints = get_type_hints(Environment, include_extras=True)

    narrow = {name.upper() for name, kind in hints.items() if get_args(kind) and kind is not Words}

    assert narrow == INVALID.keys() == VALID.keys()


def test_empty_environment_gives_the_defaults() -> None:
    environment, errors = read_environment({"PATH": "/usr/bin", "HOME": "/root"})

    assert errors == []
    assert environment == Environment()


@pytest.mark.parametrize("name", INVALID)
def test_invalid_value_is_one_problem_and_leaves_the_default(name: str) -> None:
    for value in INVALID[name]:
        environment, errors = read_environment({name: value})

        assert [error.id for error in errors] == [f"contentapi.{name}"], value
        assert errors[0].msg.startswith(f"{name} must be ")
        assert errors[0].msg.endswith(f", not {value!r}.")
        assert errors[0].hint
        assert environment == Environment()


def test_valid_value_is_parsed() -> None:
    for name, values in VALID.items():
        for value in values:
            environment, errors = read_environment({name: value})

            assert errors == []
            assert str(getattr(environment, name.lower())) == value.strip()


def test_empty_value_counts_as_unset() -> None:
    for name in [*INVALID, "DATABASE_URL", "SECRET_KEY", "ALLOWED_HOSTS"]:
        assert read_environment({name: "  "}) == (Environment(), []), name


@pytest.mark.parametrize("text", ["a.invalid,b.invalid", "a.invalid b.invalid", " a.invalid , b.invalid, "])
def test_words_are_separated_by_commas_or_spaces(text: str) -> None:
    environment, errors = read_environment({"ALLOWED_HOSTS": text, "CORS_ALLOWED_ORIGINS": text})

    assert errors == []
    assert environment.allowed_hosts == ("a.invalid", "b.invalid")
    assert environment.cors_allowed_origins == ("a.invalid", "b.invalid")


def test_number_of_threads_keeps_a_host_below_64_connections() -> None:
    threads = [read_environment({"WEB_CONCURRENCY": text})[0].contentapi_threads for text in ("1", "4", "8", "64")]

    assert threads == [16, 16, 8, 4]


@pytest.mark.parametrize(("port", "expected"), [("8000", 8100), ("9000", 9100), ("65500", 65400)])
def test_port_of_streams_follows_that_of_the_server(port: str, expected: int) -> None:
    environment, _ = read_environment({"PORT": port})

    assert environment.contentapi_stream_port == expected
