"""The doctor: each problem is found with its remedy, in the real database, Redis and file system."""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.checks import run_checks
from django.core.checks.registry import registry
from django.core.management import call_command
from pytest_django import Settings

from contentapi.db.watch import link
from contentapi.db.watch.link import DeadlineConnection, QueryFailed
from contentapi.health import database_checks, host_checks
from contentapi.health.database_checks import inspect_webhooks
from contentapi.health.deployment import Messages, problem, register_check
from contentapi.health.heartbeat import Heartbeat
from contentapi.management.commands.doctor import Finding, describe_message, find_all
from tests.contentapi.health.commits import commit
from tests.environment import set_environment

pytestmark = pytest.mark.django_db
KEY = "a key that is long enough for the tests, 50 bytes or more"


def find(inspect: database_checks.Inspection, connection: DeadlineConnection) -> Finding:
    """Return the only finding of an inspection."""
    (message,) = inspect(connection)
    return describe_message(message)


def find_by(check: Callable[[], Messages]) -> list[Finding]:
    """Return the findings of a check."""
    return list(map(describe_message, check()))


@pytest.mark.usefixtures("no_heartbeat")
def test_healthy_database_has_no_problem() -> None:
    Heartbeat(["imports"]).beat(connection := DeadlineConnection())
    connection.close()

    findings = find_by(database_checks.check_database)

    assert [finding for finding in findings if finding.status == "problem"] == []
    expected = {"events", "webhooks", "migrations", "worker", "database", "time limits", "connections", "time"}
    assert expected == {finding.check for finding in findings}


def test_database_that_is_down_is_a_problem_and_all_else_is_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = {"host": "127.0.0.1", "port": 1, "user": "app", "password": "hunter2"}
    monkeypatch.setattr(link, "build_parameters", lambda *_: parameters)

    findings = find_all()

    (found,) = [finding for finding in findings if finding.check == "database" and finding.status == "problem"]
    assert "Nothing listens" in found.message
    assert "Start PostgreSQL" in found.remedy
    assert {"settings", "keys", "redis", "disk"} <= {finding.check for finding in findings}
    assert "hunter2" not in repr(findings)


def test_time_limits_are_those_of_the_servers(connection: DeadlineConnection, settings: Settings) -> None:
    set_environment(settings, CONTENTAPI_STATEMENT_TIMEOUT="1234")

    finding = find(database_checks.inspect_time_limits, connection)

    expected = "A statement ends after 1234 ms, and waiting for a lock after 1234 ms."
    assert (finding.status, finding.message) == ("ok", expected)


def test_time_limits_that_a_pooler_drops_are_a_problem(
    connection: DeadlineConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_checks, "DeadlineConnection", lambda **_: DeadlineConnection())

    finding = find(database_checks.inspect_time_limits, connection)

    assert finding.status == "problem"
    assert "ALTER ROLE <user> SET statement_timeout = '5000ms'" in finding.remedy


def test_more_connections_than_postgresql_has_are_a_problem(connection: DeadlineConnection, settings: Settings) -> None:
    set_environment(settings, WEB_CONCURRENCY="100", CONTENTAPI_THREADS="16")

    finding = find(database_checks.inspect_connections, connection)

    assert finding.status == "problem"
    assert finding.message.startswith("This host may open 1826 connections, and PostgreSQL has ")
    assert "lower WEB_CONCURRENCY" in finding.remedy


def test_times_that_differ_are_a_problem(connection: DeadlineConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find(database_checks.inspect_time, connection).status == "ok"
    monkeypatch.setattr(database_checks, "time", SimpleNamespace(time=lambda: time.time() - 60))

    finding = find(database_checks.inspect_time, connection)

    assert finding.status == "problem"
    assert "differs by +60.0 seconds" in finding.message


WEBHOOK = """
    INSERT INTO events_webhook (id, name, url, types, selection, coalesce, scopes, maker_id, version, created_at,
        disabled_reason, secret, epoch, position, {column})
    VALUES (77, 'Site', 'https://hooks.example.com/', '{{post.*}}', '', 0, '{{}}', 1, 1, now(), '{reason}', '', '', 0,
        now() - interval '2 hours')
"""
EVENT = "INSERT INTO events_outbox (type, subject_id, timestamp) VALUES ('post.created', 1, now() - interval '1 hour')"


@pytest.mark.parametrize(
    ("inspect", "sql", "status", "message"),
    [
        (database_checks.inspect_events, EVENT, "problem", "Events have been waiting for 3,"),
        (
            inspect_webhooks,
            WEBHOOK.format(column="due_at", reason=""),
            "warning",
            "A webhook has had something",
        ),
        (inspect_webhooks, WEBHOOK.format(column="failing_since", reason=""), "warning", "These webhooks have failed"),
        (
            inspect_webhooks,
            WEBHOOK.format(column="disabled_at", reason="failures"),
            "warning",
            "The worker has disabled",
        ),
        (inspect_webhooks, WEBHOOK.format(column="disabled_at", reason="person"), "ok", "0 are enabled; none is late"),
    ],
)
def test_events_and_webhooks_that_wait_or_fail_are_found(
    connection: DeadlineConnection, inspect: database_checks.Inspection, sql: str, status: str, message: str
) -> None:
    assert find(inspect, connection).status == "ok"
    commit(sql)
    try:
        finding = find(inspect, connection)
    finally:
        commit("DELETE FROM events_outbox; DELETE FROM events_webhook")

    assert (finding.status, finding.message.startswith(message)) == (status, True)


@pytest.mark.parametrize(("workers", "status"), [("1", "problem"), ("0", "ok")])
def test_log_without_partitions_ahead_is_a_problem_if_there_is_a_worker(
    connection: DeadlineConnection, monkeypatch: pytest.MonkeyPatch, workers: str, status: str
) -> None:
    monkeypatch.setattr(database_checks, "query", lambda *_: [(None, "0", workers)])

    assert find(database_checks.inspect_events, connection).status == status


@pytest.mark.usefixtures("no_heartbeat")
def test_dead_worker_is_a_problem_and_no_worker_a_warning() -> None:
    def describe() -> Finding:
        return next(finding for finding in find_by(database_checks.check_database) if finding.check == "worker")

    assert describe().status == "warning"
    commit("INSERT INTO contentapi_jobheartbeat VALUES ('imports', now() - interval '1 hour', now())")
    assert describe().status == "problem"
    assert "manage.py worker --retire" in describe().remedy


def test_inspection_without_permission_is_skipped_and_the_others_continue(connection: DeadlineConnection) -> None:
    def inspect_secrets(connection: DeadlineConnection) -> Messages:
        return iter([problem("secrets", str(database_checks.query(connection, "SELECT * FROM no_such_table")), "")])

    (message,) = database_checks.run_inspection(inspect_secrets, connection)
    finding = describe_message(message)

    assert finding.status == "skipped"
    assert finding.message.startswith("Not checked: secrets.")
    with pytest.raises(QueryFailed):
        list(inspect_secrets(connection))


# --- The host -------------------------------------------------------------------------------------------


def test_invalid_variable_is_a_problem_and_deployment_warnings_are_too(settings: Settings) -> None:
    settings.EMBEDDED = False
    set_environment(settings, DATABASE_URL="mysql://app:hunter2@db/app", SECRET_KEY=KEY, JWT_SECRET=KEY, PORT="eighty")

    findings = {finding.message.split("(")[-1]: finding for finding in find_all()}

    assert findings["contentapi.DATABASE_URL)"].status == findings["contentapi.PORT)"].status == "problem"
    assert findings["security.W008)"] == Finding(
        "settings", "problem", findings["security.W008)"].message, "Serve by TLS, and set CONTENTAPI_HTTPS=on."
    )
    assert "hunter2" not in repr(findings)


def test_full_disk_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)
    assert describe_message(host_checks.check_disk("uploads", tmp_path)).status in ("ok", "problem")
    monkeypatch.setattr(host_checks, "LEAST_FREE_SPACE", usage.total)

    finding = describe_message(host_checks.check_disk("uploads", tmp_path))

    assert finding.status == "problem"
    assert str(tmp_path) in finding.message


def test_folder_that_does_not_exist_yet_is_measured_at_its_parent(settings: Settings, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path / "not" / "yet"

    assert all(finding.check == "disk" for finding in find_by(host_checks.check_disks))
    assert not settings.VAR_DIR.exists()


# --- The command ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("roomy_disks")
def test_command_prints_an_array_and_fails_if_there_is_a_problem(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_checks, "OLDEST_VERSION", 99)

    with pytest.raises(SystemExit) as ended:
        call_command("doctor", "--json")

    printed = capsys.readouterr()
    findings: list[dict[str, Any]] = json.loads(printed.out)
    assert ended.value.code == 1
    assert {"check", "status", "message", "remedy"} == set(findings[0])
    assert [each["check"] for each in findings if each["status"] == "problem"] == ["database"]
    assert printed.err.startswith("Problems: 1. Warnings: ")


@pytest.mark.usefixtures("roomy_disks")
def test_command_without_a_problem_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("doctor")

    printed = capsys.readouterr()
    assert "ok       webhooks: 0 are enabled; none is late, and none has failed for an hour.\n" in printed.out
    assert "         Remedy: " in printed.out
    assert printed.err.startswith("Problems: 0. Warnings: ")


def test_part_that_fails_is_a_problem_and_the_others_continue(monkeypatch: pytest.MonkeyPatch) -> None:
    def check_disks() -> Messages:
        raise OSError("disk")

    monkeypatch.setattr(registry, "deployment_checks", set())
    register_check(check_disks)
    register_check(host_checks.check_keys)

    statuses = {finding.check: finding.status for finding in find_all()}

    assert statuses == {"settings": "ok", "disks": "problem", "keys": "ok"}


def test_checks_of_the_deployment_run_only_with_a_database() -> None:
    def find_ours(**options: Any) -> list[str]:
        found = run_checks(include_deployment_checks=True, **options)
        return [str(message.id) for message in found if str(message.id).startswith("deployment.")]

    assert find_ours() == []
    assert "deployment.keys" in find_ours(databases=["default"])
