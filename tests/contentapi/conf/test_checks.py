"""The system checks of the environment, by their ids and messages."""

import pytest
from pytest_django import Settings

from contentapi.conf.checks import require_valid_start
from tests.environment import KEY, SECRETS, check, get_messages, set_environment

UNREADABLE_URLS = [
    "postgresql://app:100%secret@db.invalid/app",
    "postgresql://app:hush%hush@db.invalid/app",
    "postgresql://app:hush@[::1/app",
    "postgresql://app:hush@db.invalid/app?colour=red",
    "mysql://app:hush@db.invalid/app",
    "app:hush@db.invalid/app",
    "host=db.invalid password=hush",
]
DATABASES = [
    "postgresql://app:hush@db.invalid:5433/content",
    "postgres://app@db.invalid/content",
    "postgresql://app:p%40ss%3A%2F%25word@db.invalid/content",
    "postgresql://db.invalid/content?sslmode=require&connect_timeout=3",
    "postgresql://app@/content?host=/var/run/postgresql",
    "postgresql://app@%2Fvar%2Frun%2Fpostgresql/content",
    "postgresql://[::1]:5432/content",
]
REDIS = [
    "redis://redis.invalid",
    "redis://redis.invalid:6380/2",
    "rediss://app:p%40ss@redis.invalid/0?socket_timeout=1",
    "redis://[::1]:6379",
    "unix:///run/redis.sock?db=1",
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


def test_valid_environment_passes(settings: Settings) -> None:
    errors = check(settings)
    require_valid_start()

    assert errors == []


@pytest.mark.parametrize(
    ("variables", "ids"),
    [
        (
            {"DATABASE_URL": "postgresql://db.invalid/app"},
            ["contentapi.JWT_PRIVATE_KEY", "contentapi.SECRET_KEY"],
        ),
        ({"DATABASE_URL": "mysql://db.invalid/app", **SECRETS}, ["contentapi.DATABASE_URL"]),
        ({"DATABASE_REPLICA_URLS": "postgresql://replica.invalid/app"}, ["contentapi.DATABASE_REPLICA_URLS"]),
        (
            {
                "DATABASE_URL": "postgresql://db.invalid/app",
                "DATABASE_REPLICA_URLS": "postgresql://one.invalid/app, mysql://two.invalid/app",
                **SECRETS,
            },
            ["contentapi.DATABASE_REPLICA_URLS"],
        ),
        ({"DATABASE_URL": "postgresql://app:5%@db.invalid/app", **SECRETS}, ["contentapi.DATABASE_URL"]),
        (
            {"DATABASE_URL": "db.invalid"},
            ["contentapi.DATABASE_URL", "contentapi.JWT_PRIVATE_KEY", "contentapi.SECRET_KEY"],
        ),
        ({"JWT_SECRET": "short"}, ["contentapi.JWT_SECRET"]),
        ({"JWT_PRIVATE_KEY": "none"}, ["contentapi.JWT_PRIVATE_KEY"]),
    ],
)
def test_unusable_database_or_key_is_an_error_with_its_id(
    settings: Settings, variables: dict[str, str], ids: list[str]
) -> None:
    assert [error.id for error in check(settings, **variables)] == ids


def test_server_exits_with_all_errors_and_no_secret(settings: Settings) -> None:
    set_environment(settings, PORT="http", DATABASE_URL="postgresql://app:hush%@db.invalid/app")

    with pytest.raises(SystemExit) as ended:
        require_valid_start()

    text = str(ended.value)
    assert [line.split(":")[0] for line in text.splitlines() if not line.startswith("\t")] == [
        "contentapi.DATABASE_URL",
        "contentapi.JWT_PRIVATE_KEY",
        "contentapi.PORT",
        "contentapi.SECRET_KEY",
    ]
    assert text.count("\tHINT: ") == 4
    assert "hush" not in text


def test_usable_url_passes(settings: Settings) -> None:
    for url in DATABASES:
        assert check(settings, DATABASE_URL=url, **SECRETS) == [], url
    for url in REDIS:
        assert check(settings, REDIS_URL=url) == [], url


@pytest.mark.parametrize("url", UNREADABLE_URLS)
def test_unusable_database_url_is_one_error_without_a_secret(settings: Settings, url: str) -> None:
    errors = check(settings, DATABASE_URL=url, **SECRETS, PORT="http")

    assert [error.id for error in errors] == ["contentapi.DATABASE_URL", "contentapi.PORT"]
    text = repr(errors)
    assert "http" in text
    assert url not in text
    assert "hush" not in text
    assert "100%" not in text
    assert KEY not in text


def test_unusable_redis_url_is_one_error_without_a_secret(settings: Settings) -> None:
    for url in UNREADABLE_REDIS:
        errors = check(settings, REDIS_URL=url)

        assert get_messages(errors) == [("REDIS_URL", "REDIS_URL is not the address of a Redis.")], url
        assert "hush" not in repr(errors)


@pytest.mark.parametrize(
    "variables", [{"CONTENTAPI_DOCUMENTS": "trusted"}, {"CONTENTAPI_DOCUMENTS_MANIFEST": "none.json"}]
)
def test_missing_documents_are_an_error(settings: Settings, variables: dict[str, str]) -> None:
    assert [error.id for error in check(settings, **variables)] == ["contentapi.CONTENTAPI_DOCUMENTS"]
