"""The doctor looks at webhooks that are late, that fail, and that the worker has disabled."""

import pytest

from contentapi.db.watch.link import DeadlineConnection
from contentapi.health import database_checks
from contentapi.management.commands.doctor import describe_message
from tests.contentapi.health.commits import commit

pytestmark = pytest.mark.django_db

INSERT = """
    INSERT INTO events_webhook (id, name, url, types, selection, coalesce, scopes, maker_id, version, created_at,
        disabled_reason, secret, epoch, position, {column})
    VALUES (77, 'Site', 'https://hooks.example.com/', '{{post.*}}', '', 0, '{{}}', 1, 1, now(), '{reason}', '', '', 0,
        now() - interval '2 hours')
"""


def find(connection: DeadlineConnection) -> list[tuple[str, str]]:
    found = [describe_message(message) for message in database_checks.inspect_webhooks(connection)]
    return [(finding.status, finding.message) for finding in found]


def test_deployment_without_webhooks_has_no_problem(connection: DeadlineConnection) -> None:
    assert find(connection) == [("ok", "0 are enabled; none is late, and none has failed for an hour.")]


@pytest.mark.parametrize(
    ("column", "reason", "message"),
    [
        ("due_at", "", "A webhook has had something to send for 7,2"),
        ("failing_since", "", "These webhooks have failed for an hour: 77."),
        ("disabled_at", "failures", "The worker has disabled these webhooks: 77."),
    ],
)
def test_webhook_that_needs_attention_is_a_warning(
    connection: DeadlineConnection, column: str, reason: str, message: str
) -> None:
    commit(INSERT.format(column=column, reason=reason))
    try:
        [(status, found)] = find(connection)
    finally:
        commit("DELETE FROM events_webhook")

    assert status == "warning"
    assert found.startswith(message)


def test_webhook_that_a_person_has_disabled_is_none(connection: DeadlineConnection) -> None:
    commit(INSERT.format(column="disabled_at", reason="person"))
    try:
        found = find(connection)
    finally:
        commit("DELETE FROM events_webhook")

    assert [status for status, _ in found] == ["ok"]
