"""The checks of readiness, against the real database, keys and Redis."""

from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
from pytest_django import Settings

from contentapi.auth.signing_keys import load_key_ring
from contentapi.db.watch.link import DeadlineConnection
from contentapi.db.watch.servers import SERVERS
from contentapi.health import checks
from contentapi.health.checks import (
    check_database,
    check_keys,
    check_migrations,
    check_redis,
    check_replicas,
    find_unapplied_migrations,
    list_migrations,
)
from contentapi.health.results import OK
from tests.contentapi.health.commits import commit
from tests.deployment.redis_server import RedisServer
from tests.environment import set_environment


def test_migrated_database_is_ready(connection: DeadlineConnection) -> None:
    results = check_database(connection, 10)

    assert (results["database"], results["migrations"]) == (OK, OK)
    assert not results["worker"].is_problem


def test_unapplied_migration_is_named_by_its_app_with_the_remedy(connection: DeadlineConnection) -> None:
    commit("UPDATE django_migrations SET app = 'away' WHERE app = 'orders'")
    try:
        result = check_database(connection, 10)["migrations"]
    finally:
        commit("UPDATE django_migrations SET app = 'orders' WHERE app = 'away'")

    assert result.status == "failed"
    assert "(orders). Run python manage.py migrate." in result.reason


def test_database_without_any_table_has_all_migrations_to_apply(connection: DeadlineConnection) -> None:
    commit("ALTER TABLE django_migrations RENAME TO away")
    try:
        result = check_database(connection, 10)["migrations"]
    finally:
        commit("ALTER TABLE away RENAME TO django_migrations")

    assert result.reason.startswith(f"{len(list_migrations())} migrations are not applied (")


def test_migrations_of_a_newer_version_are_no_problem() -> None:
    assert check_migrations({*list_migrations(), ("blog", "9999_of_the_next_version")}) == OK


def test_squashed_migration_is_applied_if_all_that_it_replaces_are(monkeypatch: pytest.MonkeyPatch) -> None:
    squashed, replaced = ("blog", "0001_squashed"), (("blog", "0001"), ("blog", "0002"))
    monkeypatch.setattr("contentapi.health.checks.list_migrations", lambda: frozenset([squashed]))
    monkeypatch.setattr("contentapi.health.checks.read_replaced", lambda _: {*replaced})

    assert find_unapplied_migrations({squashed}) == find_unapplied_migrations({*replaced}) == []
    assert find_unapplied_migrations({replaced[0]}) == find_unapplied_migrations(set()) == [squashed]


def test_database_that_accepts_no_writes_is_not_ready(connection: DeadlineConnection) -> None:
    connection.query("SET default_transaction_read_only = on", monotonic() + 10)

    assert check_database(connection, 10)["database"][:2] == ("failed", "PostgreSQL accepts no writes.")


def test_locked_table_of_migrations_does_not_hold_the_check(connection: DeadlineConnection) -> None:
    other = DeadlineConnection()
    other.query("BEGIN", monotonic() + 10)
    other.query("LOCK TABLE django_migrations", monotonic() + 10)
    try:
        results = check_database(connection, 0.2)
    finally:
        other.close()

    assert results["database"][:2] == ("failed", "PostgreSQL does not respond in time.")
    assert results["migrations"].status == results["worker"].status == "unknown"


# --- Keys -----------------------------------------------------------------------------------------------


@pytest.fixture
def var(settings: Settings, tmp_path: Path) -> Iterator[Path]:
    settings.VAR_DIR = tmp_path / "var"
    yield settings.VAR_DIR
    load_key_ring.cache_clear()


def test_generated_key_is_usable(var: Path) -> None:
    assert check_keys() == OK
    assert (var / "jwt/1.pem").exists()


def test_broken_key_file_is_a_failure_that_does_not_name_the_file(var: Path) -> None:
    (var / "jwt").mkdir(parents=True)
    (var / "jwt/1.pem").write_text("not a key")

    assert check_keys()[:2] == ("failed", "The signing keys cannot be read.")


# --- Redis ----------------------------------------------------------------------------------------------


def test_redis_that_responds_is_ok_and_a_suspended_one_fails_in_time(
    settings: Settings, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_environment(settings, REDIS_URL=redis_server.url)
    assert check_redis() == OK

    redis_server.hang()
    with monkeypatch.context() as patch:
        patch.setattr(checks, "REDIS_CHECK_LIMIT", 0.1)
        suspended = check_redis()
    redis_server.go_on()

    assert suspended[:2] == ("failed", "Redis does not respond in time.")
    assert check_redis() == OK
    redis_server.kill()
    assert check_redis()[:2] == ("failed", "Redis is not reachable.")


def test_redis_without_room_is_a_failure(settings: Settings, redis_server: RedisServer) -> None:
    import redis

    set_environment(settings, REDIS_URL=redis_server.url)
    with redis.Redis.from_url(redis_server.url) as client:
        client.config_set("maxmemory", 1)

    assert check_redis()[:2] == ("failed", "Redis accepts no writes.")


def test_redis_with_another_password_is_a_failure_without_the_password(
    settings: Settings, redis_server: RedisServer
) -> None:
    import redis

    with redis.Redis.from_url(redis_server.url) as client:
        client.config_set("requirepass", "correct")
    set_environment(settings, REDIS_URL=redis_server.url.replace("//", "//:hunter2@"))

    assert check_redis()[:2] == ("failed", "Redis refuses the user or the password of REDIS_URL.")


# --- Replicas -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("usable", "status", "reason"),
    [
        ([True, True], "ok", ""),
        ([True, False], "warning", "Replicas are left out of reads. replica2: it lags more than 5 s"),
        (
            [False, False],
            "failed",
            "No replica is in use, and all reads go to the primary. "
            "replica1: it lags more than 5 s; replica2: it lags more than 5 s",
        ),
    ],
)
def test_one_replica_that_is_left_out_is_a_warning_and_all_are_a_failure(
    monkeypatch: pytest.MonkeyPatch, usable: list[bool], status: str, reason: str
) -> None:
    faults = {
        f"replica{number}": "" if in_use else "it lags more than 5 s" for number, in_use in enumerate(usable, start=1)
    }
    monkeypatch.setattr(SERVERS, "find_faults", lambda: faults)

    assert check_replicas()[:2] == (status, reason)
