"""Which values each variable accepts, and the problem of any other value."""

from typing import Any, get_args, get_type_hints

import pytest

from contentapi.conf import environment as module
from contentapi.conf.environment import Environment, read_environment

# Of each type, values that are accepted, and values that are not
EXAMPLES: dict[Any, tuple[list[str], list[str]]] = {
    module.Address: (
        ["127.0.0.1:9100", ":9100", "[::1]:9100", "metrics.internal:65535"],
        ["9100", "127.0.0.1", "127.0.0.1:0", "http://127.0.0.1:9100", "127.0.0.1:9100/metrics"],
    ),
    module.Cluster: (["citus"], ["on", "Citus"]),
    module.Count: (["1", "262144", "2147483647"], ["0", "-1", "many", "1.5", "1MiB", "2147483648"]),
    module.Days: (["1", "365"], ["0", "a month"]),
    module.Documents: (["any", "trusted"], ["all", "Trusted"]),
    module.ForwardedHeader: (["Forwarded", "X-Forwarded-For"], ["forwarded", "X_Forwarded_For", "X-Real-IP"]),
    module.Lag: (["1000", "60000"], ["0", "999", "5s"]),
    module.Language: (["english", "german", "simple"], ["klingon", "English", "en", "pg_catalog.english"]),
    module.Level: (["DEBUG", "INFO", "WARNING", "ERROR"], ["debug", "LOUD", "10"]),
    module.LogFormat: (["auto", "json", "text"], ["JSON", "logfmt"]),
    module.MaxPage: (["100", "1000"], ["99", "all"]),
    module.MediaPlace: (
        ["var/media", "/srv/media", "s3://bucket", "s3://bucket/a/b?endpoint=http://localhost:9000"],
        ["https://bucket.s3.amazonaws.com", "s3://", "s3://b", "a folder"],
    ),
    module.MediaUrl: (
        ["https://cdn.example.com", "http://localhost:9000/bucket"],
        ["cdn.example.com", "https://cdn.example.com/", "https://cdn.example.com?a=b"],
    ),
    module.Memory: (["1", "1000000000000"], ["0", "10GB"]),
    module.Networks: (
        ["10.0.0.0/8", "10.0.0.0/8,fd00::/8", "127.0.0.1/32 ::1/128"],
        ["10.0.0.1/8", "999.0.0.0/8", "example.com", "10.0.0.0/33"],
    ),
    module.Origin: (
        ["https://api.example.com", "http://localhost:8000", "http://[::1]:8000"],
        [
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
    ),
    module.Port: (["1", "65535", " 8001 "], ["0", "65536", "-1", "http", "80.5", "8_000", "8000,8001"]),
    module.PostUrl: (
        ["https://www.example.com/blog/{slug}", "http://localhost:3000/{slug}.html?a=b"],
        [
            "https://www.example.com/blog",
            "www.example.com/{slug}",
            "https://{slug}",
            "https://www.example.com/{id}/{slug}",
        ],
    ),
    module.PreviewUrls: (
        [
            "https://www.example.com/api/preview?token={token}&path=/blog/{slug}",
            "web=https://www.example.com/{slug}?p={token} my-app=http://localhost:3000/{id}/{token}",
            " ".join(f"site{number}=https://www.example.com/{{token}}" for number in range(4)),
        ],
        [
            "https://www.example.com/{slug}",
            "www.example.com/{token}",
            "https://{token}",
            "https://www.example.com/{token}?{name}",
            "https://www.example.com/{token} and more",
            " ".join(f"site{number}=https://www.example.com/{{token}}" for number in range(5)),
        ],
    ),
    module.Proxies: (["0", "2"], ["-1", "all", "101"]),
    module.Rate: (
        ["300/minute", "1/second", "5/10seconds", "100000/hours", "999999999/day"],
        [
            "off",
            "300",
            "0/minute",
            "300/week",
            "-1/minute",
            "1.5/second",
            "300 per minute",
            "1/minute;2/hour",
            "5/0minutes",
        ],
    ),
    module.Share: (["0.0", "0.01", "1.0"], ["-0.1", "1.1", "10%", "nan"]),
    module.Switch: (["on", "off"], ["yes", "true", "1", "ON"]),
    module.TraceProtocol: (["http/protobuf"], ["grpc", "http/json"]),
}
TYPES = {
    name.upper(): kind
    for name, kind in get_type_hints(Environment, include_extras=True).items()
    if get_args(kind) and kind is not module.Words
}


def test_every_type_with_limits_has_examples() -> None:
    assert {*TYPES.values()} == EXAMPLES.keys()


def test_empty_environment_gives_the_defaults() -> None:
    environment, errors = read_environment({"PATH": "/usr/bin", "HOME": "/root"})

    assert errors == []
    assert environment == Environment()


def test_invalid_value_is_one_problem_and_leaves_the_default() -> None:
    for name, value in ((name, value) for name, kind in TYPES.items() for value in EXAMPLES[kind][1]):
        environment, errors = read_environment({name: value})

        assert [error.id for error in errors] == [f"contentapi.{name}"], value
        assert errors[0].msg.startswith(f"{name} must be ")
        assert errors[0].msg.endswith(f", not {value!r}.")
        assert errors[0].hint
        assert environment == Environment()


def test_valid_value_is_parsed() -> None:
    for name, kind in TYPES.items():
        for value in EXAMPLES[kind][0]:
            environment, errors = read_environment({name: value})

            assert errors == []
            assert str(getattr(environment, name.lower())) == value.strip()


def test_empty_value_counts_as_unset() -> None:
    for name in [*TYPES, "DATABASE_URL", "SECRET_KEY", "ALLOWED_HOSTS"]:
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
