"""The doctor: each problem is found with its remedy, in the real database, Redis and file system."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks
from django.core.management import call_command
from pytest_django import Settings

from contentapi.db.watch import link
from contentapi.db.watch.link import DeadlineConnection
from contentapi.health import deployment
from contentapi.health.heartbeat import Heartbeat
from contentapi.health.results import OK, CheckResult
from contentapi.management.commands.doctor import Finding, find_all
from tests.contentapi.health.commits import commit
from tests.environment import set_environment

KEY = "a key that is long enough for the tests, 50 bytes or more"


def examine(name: str) -> CheckResult:
    return deployment.examine_database()[name]


@pytest.mark.usefixtures("no_heartbeat")
def test_healthy_database_has_no_problem() -> None:
    Heartbeat(["imports"]).beat(connection := DeadlineConnection())
    connection.close()

    assert {name: result.status for name, result in deployment.examine_database().items()} == dict.fromkeys(
        ("events", "webhooks", "migrations", "worker", "database", "time_limits", "connections"), "ok"
    )


def test_database_that_is_down_is_a_problem_and_all_else_is_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = {"host": "127.0.0.1", "port": 1, "user": "app", "password": "hunter2"}
    monkeypatch.setattr(link, "build_parameters", lambda *_: parameters)

    findings = find_all()

    (found,) = [finding for finding in findings if finding.check == "database" and finding.status == "problem"]
    assert "Nothing listens" in found.message
    assert "Start PostgreSQL" in found.remedy
    assert {"settings", "keys", "redis", "disk"} <= {finding.check for finding in findings}
    assert "hunter2" not in repr(findings)


def test_time_limits_are_those_of_the_servers(settings: Settings) -> None:
    set_environment(settings, CONTENTAPI_STATEMENT_TIMEOUT="1234")

    assert examine("time_limits") == OK._replace(
        reason="A statement ends after 1234 ms, and waiting for a lock after 1234 ms."
    )


def test_time_limits_that_a_pooler_drops_are_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deployment, "DeadlineConnection", lambda **_: DeadlineConnection())

    found = examine("time_limits")

    assert found.is_problem
    assert "ALTER ROLE <user> SET statement_timeout = '5000ms'" in found.remedy


def test_more_connections_than_postgresql_has_are_a_problem(settings: Settings) -> None:
    set_environment(settings, WEB_CONCURRENCY="100", CONTENTAPI_THREADS="16")

    found = examine("connections")

    assert found.is_problem
    assert found.reason.startswith("This host may open 1826 connections, and PostgreSQL has ")
    assert "lower WEB_CONCURRENCY" in found.remedy


WEBHOOK = """
    INSERT INTO events_webhook (id, name, url, types, selection, coalesce, scopes, maker_id, version, created_at,
        disabled_reason, secret, epoch, position, {column})
    VALUES (77, 'Site', 'https://hooks.example.com/', '{{post.*}}', '', 0, '{{}}', 1, 1, now(), '{reason}', '', '', 0,
        now() - interval '2 hours')
"""
EVENT = "INSERT INTO events_outbox (type, subject_id, timestamp) VALUES ('post.created', 1, now() - interval '1 hour')"


@pytest.mark.parametrize(
    ("check", "sql", "status", "message"),
    [
        ("events", EVENT, "failed", "Events have been waiting for 3,"),
        ("webhooks", WEBHOOK.format(column="due_at", reason=""), "warning", "A webhook has had something"),
        ("webhooks", WEBHOOK.format(column="failing_since", reason=""), "warning", "These webhooks have failed"),
        ("webhooks", WEBHOOK.format(column="disabled_at", reason="failures"), "warning", "The worker has disabled"),
        ("webhooks", WEBHOOK.format(column="disabled_at", reason="person"), "ok", "0 are enabled; none is late"),
    ],
)
def test_events_and_webhooks_that_wait_or_fail_are_found(check: str, sql: str, status: str, message: str) -> None:
    assert examine(check).status == "ok"
    commit(sql)
    try:
        found = examine(check)
    finally:
        commit("DELETE FROM events_outbox; DELETE FROM events_webhook")

    assert (found.status, found.reason.startswith(message)) == (status, True)


@pytest.mark.parametrize(("workers", "status"), [(1, "failed"), (0, "ok")])
def test_log_without_partitions_ahead_is_a_problem_if_there_is_a_worker(workers: int, status: str) -> None:
    assert deployment.check_events({"events": None, "partitions": 0, "workers": workers}).status == status


@pytest.mark.usefixtures("no_heartbeat")
def test_dead_worker_is_a_problem_and_no_worker_a_warning() -> None:
    assert examine("worker").status == "warning"
    commit("INSERT INTO contentapi_jobheartbeat VALUES ('imports', now() - interval '1 hour', now())")
    assert examine("worker").is_problem
    assert "manage.py worker --retire" in examine("worker").remedy


def test_database_whose_state_cannot_be_read_has_the_other_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deployment, "READ_FACTS", "SELECT * FROM no_such_table")

    found = deployment.examine_database()

    assert found["database"].status == "skipped"
    assert found["database"].reason.startswith("Not checked:")
    assert found["migrations"] == OK


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


def test_full_disk_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deployment, "LEAST_FREE_SPACE", 2**80)

    assert deployment.check_disks().is_problem


@pytest.mark.usefixtures("roomy_disks")
def test_folder_that_does_not_exist_yet_is_measured_at_its_parent(settings: Settings, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path / "not" / "yet"

    assert deployment.check_disks().status == "ok"
    assert not settings.VAR_DIR.exists()


# --- The command ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("roomy_disks")
def test_command_prints_an_array_and_fails_if_there_is_a_problem(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deployment, "OLDEST_VERSION", 99)

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


@pytest.mark.parametrize(
    ("options", "prefix", "kind"),
    [
        ("'--enable-optimizations' '--with-lto'", "/opt/python", "an optimised build."),
        ("'--enable-shared'", "/usr", "an optimised build."),  # as Debian's
        ("'--enable-shared'", "/opt/python", "a slow build: one with --enable-optimizations executes"),
        (None, "/opt/python", "a slow build: one with --enable-optimizations executes"),
    ],
)
def test_doctor_notes_a_slow_build_of_python(
    options: str | None, prefix: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sysconfig.get_config_var", {"CONFIG_ARGS": options}.get)
    monkeypatch.setattr("sys.base_prefix", prefix)

    result = deployment.check_python()

    assert result.status == "ok"
    assert kind in result.reason


def test_part_that_fails_is_a_problem_and_the_others_continue(monkeypatch: pytest.MonkeyPatch) -> None:
    def check_disks() -> CheckResult:
        raise OSError("disk")

    monkeypatch.setattr(deployment, "check_disks", check_disks)

    found = deployment.examine()

    assert found["disk"].reason == "The check itself failed. See the log."
    assert found["keys"].status == found["database"].status == "ok"


def test_checks_of_the_deployment_run_only_with_a_database() -> None:
    def find_ours(**options: Any) -> list[str]:
        found = run_checks(include_deployment_checks=True, **options)
        return [str(message.id) for message in found if str(message.id).startswith("deployment.")]

    assert find_ours() == []
    assert "deployment.keys" in find_ours(databases=["default"])
