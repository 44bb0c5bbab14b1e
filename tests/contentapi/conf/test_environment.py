"""What each variable may say, and what is reported of one that says something else."""

from typing import get_args, get_type_hints

import pytest

from contentapi.auth.jwt import Key
from contentapi.conf.environment import Environment, Words, parse_database_url, read_environment

WRONG_RATES = [
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
RIGHT_RATES = ["300/minute", "1/second", "5/10seconds", "100000/hours", "999999999/day"]
WRONG = {
    "PORT": ["0", "65536", "-1", "http", "80.5", "8_000", "8000,8001"],
    "WEB_CONCURRENCY": ["0", "-2", "many", "2147483648"],
    "CONTENTAPI_DOCUMENT_CACHE": ["0", "-1", "256k"],
    "CONTENTAPI_HTTPS": ["yes", "true", "1", "ON"],
    "CONTENTAPI_INTROSPECTION": ["no", "OFF"],
    "CONTENTAPI_INTROSPECTION_CACHE": ["0", "1M"],
    "CONTENTAPI_LOG_LEVEL": ["debug", "LOUD", "10"],
    "CONTENTAPI_MAX_ALIASES": ["0", "many"],
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
    "CONTENTAPI_RATE_ANONYMOUS": WRONG_RATES,
    "CONTENTAPI_RATE_AUTHENTICATED": WRONG_RATES,
    "CONTENTAPI_RATE_LOGIN": WRONG_RATES,
    "CONTENTAPI_RATE_LOGIN_ACCOUNT": WRONG_RATES,
    "CONTENTAPI_RATE_LOGIN_ADDRESS": WRONG_RATES,
    "CONTENTAPI_RATE_TOKENS": WRONG_RATES,
    "CONTENTAPI_RATE_WRITES": WRONG_RATES,
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
    "CONTENTAPI_SERVER_THREADS": ["0", "many"],
    "CONTENTAPI_STATEMENT_CACHE": ["0", "1M", "2147483648"],
    "CONTENTAPI_STATEMENT_TIMEOUT": ["0", "5s"],
    "CONTENTAPI_THREADS": ["0", "four"],
    "CONTENTAPI_TRUSTED_PROXIES": ["-1", "all", "101"],
}
RIGHT = {
    "PORT": ["1", "65535", " 8001 "],
    "WEB_CONCURRENCY": ["1", "64"],
    "CONTENTAPI_DOCUMENT_CACHE": ["1", "262144"],
    "CONTENTAPI_HTTPS": ["on", "off"],
    "CONTENTAPI_INTROSPECTION": ["on", "off"],
    "CONTENTAPI_INTROSPECTION_CACHE": ["1", "2097152"],
    "CONTENTAPI_LOG_LEVEL": ["DEBUG", "INFO", "WARNING", "ERROR"],
    "CONTENTAPI_MAX_ALIASES": ["1", "100"],
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
    "CONTENTAPI_RATE_ANONYMOUS": RIGHT_RATES,
    "CONTENTAPI_RATE_AUTHENTICATED": RIGHT_RATES,
    "CONTENTAPI_RATE_LOGIN": RIGHT_RATES,
    "CONTENTAPI_RATE_LOGIN_ACCOUNT": RIGHT_RATES,
    "CONTENTAPI_RATE_LOGIN_ADDRESS": RIGHT_RATES,
    "CONTENTAPI_RATE_TOKENS": RIGHT_RATES,
    "CONTENTAPI_RATE_WRITES": RIGHT_RATES,
    "CONTENTAPI_PUBLIC_URL": ["https://api.example.com", "http://localhost:8000", "http://[::1]:8000"],
    "CONTENTAPI_SERVER_THREADS": ["1", "512"],
    "CONTENTAPI_STATEMENT_CACHE": ["1", "2147483647"],
    "CONTENTAPI_STATEMENT_TIMEOUT": ["1", "60000"],
    "CONTENTAPI_THREADS": ["1", "32"],
    "CONTENTAPI_TRUSTED_PROXIES": ["0", "2"],
}
UNREADABLE_URLS = [
    "postgresql://app:100%secret@db.invalid/app",
    "postgresql://app:hush%hush@db.invalid/app",
    "postgresql://app:hush@[::1/app",
    "postgresql://app:hush@db.invalid/app?colour=red",
    "mysql://app:hush@db.invalid/app",
    "app:hush@db.invalid/app",
    "host=db.invalid password=hush",
]
UNREADABLE_REDIS = [
    "hush",
    "http://app:hush@redis.invalid",
    "redis://",
    "redis://app:hush@redis.invalid:http/0",
    "redis://app:hush@redis.invalid:99999/0",
    "redis://app:hush@redis.invalid/hush",
    "redis://app:hush@[::1/0",
    "redis://app:hush@redis.invalid/0?socket_timeout=hush",
    "unix://",
]
KEY = "a key that is long enough for the tests"
PRIVATE = Key.generate()
SECRETS = {"SECRET_KEY": KEY, "JWT_SECRET": KEY}


def cases(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(name, value) for name, values in table.items() for value in values]


def test_every_variable_that_can_be_wrong_is_tried() -> None:
    hints = get_type_hints(Environment, include_extras=True)

    narrow = {name.upper() for name, kind in hints.items() if get_args(kind) and kind is not Words}

    assert narrow == WRONG.keys() == RIGHT.keys()


def test_nothing_set_gives_the_defaults() -> None:
    environment, problems = read_environment({"PATH": "/usr/bin", "HOME": "/root"})

    assert problems == []
    assert environment == Environment()


@pytest.mark.parametrize(("name", "value"), cases(WRONG))
def test_a_wrong_value_is_one_problem_that_names_it_and_leaves_the_default(name: str, value: str) -> None:
    environment, problems = read_environment({name: value})

    assert [problem.variable for problem in problems] == [name]
    assert problems[0].message.startswith(f"{name} must be ")
    assert problems[0].message.endswith(f", not {value!r}.")
    assert problems[0].hint
    assert environment == Environment()


@pytest.mark.parametrize(("name", "value"), cases(RIGHT))
def test_a_right_value_is_taken(name: str, value: str) -> None:
    environment, problems = read_environment({name: value})

    assert problems == []
    assert str(getattr(environment, name.lower())) == value.strip()


def test_several_wrong_values_are_reported_together() -> None:
    variables = {"PORT": "http", "CONTENTAPI_THREADS": "four", "DATABASE_URL": "mysql://db.invalid/app"}

    _, problems = read_environment(variables)

    assert sorted(problem.variable for problem in problems) == [
        "CONTENTAPI_THREADS",
        "DATABASE_URL",
        "JWT_PRIVATE_KEY",
        "PORT",
        "SECRET_KEY",
    ]


@pytest.mark.parametrize("name", [*WRONG, "DATABASE_URL", "SECRET_KEY", "ALLOWED_HOSTS"])
def test_an_empty_value_counts_as_not_set(name: str) -> None:
    environment, problems = read_environment({name: "  "})

    assert problems == []
    assert environment == Environment()


@pytest.mark.parametrize("text", ["a.invalid,b.invalid", "a.invalid b.invalid", " a.invalid , b.invalid, "])
def test_words_are_separated_by_commas_or_spaces(text: str) -> None:
    environment, problems = read_environment({"ALLOWED_HOSTS": text, "CORS_ALLOWED_ORIGINS": text})

    assert problems == []
    assert environment.allowed_hosts == ("a.invalid", "b.invalid")
    assert environment.cors_allowed_origins == ("a.invalid", "b.invalid")


@pytest.mark.parametrize(
    ("url", "parameters"),
    [
        (
            "postgresql://app:hush@db.invalid:5433/content",
            {"user": "app", "password": "hush", "host": "db.invalid", "port": "5433", "dbname": "content"},
        ),
        ("postgres://app@db.invalid/content", {"user": "app", "host": "db.invalid", "dbname": "content"}),
        (
            "postgresql://app:p%40ss%3A%2F%25word@db.invalid/content",
            {"user": "app", "password": "p@ss:/%word", "host": "db.invalid", "dbname": "content"},
        ),
        (
            "postgresql://db.invalid/content?sslmode=require&connect_timeout=3",
            {"host": "db.invalid", "dbname": "content", "sslmode": "require", "connect_timeout": 3},
        ),
        (
            "postgresql://app@/content?host=/var/run/postgresql",
            {"user": "app", "dbname": "content", "host": "/var/run/postgresql"},
        ),
        (
            "postgresql://app@%2Fvar%2Frun%2Fpostgresql/content",
            {"user": "app", "dbname": "content", "host": "/var/run/postgresql"},
        ),
        ("postgresql://[::1]:5432/content", {"host": "::1", "port": "5432", "dbname": "content"}),
    ],
)
def test_a_database_url_is_read_as_libpq_reads_it(url: str, parameters: dict[str, str]) -> None:
    _, problems = read_environment({"DATABASE_URL": url, **SECRETS})

    assert problems == []
    assert {name: str(value) for name, value in parse_database_url(url).items()} == {
        name: str(value) for name, value in parameters.items()
    }


@pytest.mark.parametrize("url", UNREADABLE_URLS)
def test_a_database_url_that_cannot_be_used_is_one_problem(url: str) -> None:
    _, problems = read_environment({"DATABASE_URL": url, **SECRETS})

    assert [problem.variable for problem in problems] == ["DATABASE_URL"]
    assert problems[0].message.startswith("DATABASE_URL ")


@pytest.mark.parametrize("url", UNREADABLE_URLS)
def test_no_problem_repeats_a_secret(url: str) -> None:
    _, problems = read_environment({"DATABASE_URL": url, **SECRETS, "PORT": "http"})

    told = repr(problems)

    assert "http" in told
    assert url not in told
    assert "hush" not in told
    assert "100%" not in told
    assert KEY not in told


def test_a_database_without_secrets_is_a_problem_for_each() -> None:
    _, problems = read_environment({"DATABASE_URL": "postgresql://app@db.invalid/content"})

    assert [(problem.variable, problem.message) for problem in problems] == [
        ("SECRET_KEY", "SECRET_KEY is required when DATABASE_URL is set."),
        ("JWT_PRIVATE_KEY", "JWT_PRIVATE_KEY is required when DATABASE_URL is set."),
    ]


@pytest.mark.parametrize("keys", [{"JWT_SECRET": KEY}, {"JWT_PRIVATE_KEY": PRIVATE.private_pem}])
def test_a_database_needs_one_key_for_tokens(keys: dict[str, str]) -> None:
    _, problems = read_environment({"DATABASE_URL": "postgresql://app@db.invalid/content", "SECRET_KEY": KEY, **keys})

    assert problems == []


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"JWT_SECRET": "hush" * 7}, "JWT_SECRET must have 32 bytes or more."),
        ({"JWT_SECRET": PRIVATE.public_pem}, "JWT_SECRET must be a secret, not a key in PEM or SSH form."),
        ({"JWT_PRIVATE_KEY": "hush"}, "JWT_PRIVATE_KEY cannot be read as a key in PEM."),
        ({"JWT_PRIVATE_KEY": PRIVATE.private_pem[:-40]}, "JWT_PRIVATE_KEY cannot be read as a key in PEM."),
        ({"JWT_PRIVATE_KEY": PRIVATE.public_pem}, "JWT_PRIVATE_KEY must begin with a private key."),
    ],
)
def test_keys_that_are_none_are_one_problem_and_not_repeated(variables: dict[str, str], message: str) -> None:
    _, problems = read_environment(variables)

    assert [(problem.variable, problem.message) for problem in problems] == [(*variables, message)]
    assert problems[0].hint
    assert not any(line in repr(problems) for text in variables.values() for line in text.splitlines() if line)


@pytest.mark.parametrize("url", UNREADABLE_REDIS)
def test_a_redis_url_that_cannot_be_used_is_one_problem_that_repeats_no_secret(url: str) -> None:
    _, problems = read_environment({"REDIS_URL": url})

    assert [(problem.variable, problem.message) for problem in problems] == [
        ("REDIS_URL", "REDIS_URL is not the address of a Redis.")
    ]
    assert "hush" not in repr(problems)


@pytest.mark.parametrize(
    "url",
    [
        "redis://redis.invalid",
        "redis://redis.invalid:6380/2",
        "rediss://app:p%40ss@redis.invalid/0?socket_timeout=1",
        "redis://[::1]:6379",
        "unix:///run/redis.sock?db=1",
    ],
)
def test_a_redis_url_that_can_be_used_is_no_problem(url: str) -> None:
    assert read_environment({"REDIS_URL": url})[1] == []
