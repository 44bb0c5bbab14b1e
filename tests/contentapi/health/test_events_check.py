"""The doctor looks at the outbox and the partitions of the log of events."""

import pytest

from contentapi.db.watch.link import DeadlineConnection
from contentapi.health import database_checks
from contentapi.management.commands.doctor import Finding, describe_message
from tests.contentapi.health.commits import commit

pytestmark = pytest.mark.django_db


def find(connection: DeadlineConnection) -> Finding:
    (message,) = database_checks.inspect_events(connection)
    return describe_message(message)


def test_events_that_wait_for_long_are_a_problem(connection: DeadlineConnection) -> None:
    assert find(connection).status == "ok"
    commit(
        "INSERT INTO events_outbox (type, subject_id, timestamp) VALUES ('post.created', 1, now() - interval '1 hour')"
    )
    try:
        finding = find(connection)
    finally:
        commit("DELETE FROM events_outbox")

    assert finding.status == "problem"
    assert finding.message.startswith("Events have been waiting for 3,")
    assert "manage.py worker" in finding.remedy


@pytest.mark.parametrize(("workers", "status"), [("1", "problem"), ("0", "ok")])
def test_log_without_partitions_ahead_is_a_problem_if_there_is_a_worker(
    connection: DeadlineConnection, monkeypatch: pytest.MonkeyPatch, workers: str, status: str
) -> None:
    monkeypatch.setattr(database_checks, "query", lambda *_: [(None, "0", workers)])

    assert find(connection).status == status
