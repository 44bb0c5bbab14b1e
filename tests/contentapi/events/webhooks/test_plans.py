"""Statements of the sender use indexes, also on partitions of which PostgreSQL has no statistics."""

from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from contentapi.db.statements import execute, fetch_column
from contentapi.events.feed import read_log
from contentapi.events.webhooks import planning
from contentapi.events.webhooks.bodies import read_bodies
from contentapi.events.webhooks.deliveries import claim, find_webhooks, record
from contentapi.events.webhooks.retries import judge
from contentapi.events.webhooks.sending import ReceivedResponse
from tests.contentapi.events.webhooks.hooks import make_hook
from tests.event_log import relay
from tests.factories import make_author

pytestmark = pytest.mark.django_db
ROWS = 20_000
# Half of the rows wait for the webhook; each tenth of them is the first one of its subject.
FILL = f"""
    INSERT INTO events_delivery (day, webhook_id, message_id, type, subject_id, position, state, due_at)
    SELECT (now() AT TIME ZONE 'UTC')::date, %s, 'evt_' || number, 'author.updated', 1000 + number / 10, number,
        CASE WHEN number %% 2 = 0 THEN 'waiting' ELSE 'delivered' END,
        CASE WHEN number %% 10 = 0 THEN now() END
    FROM generate_series(1, {ROWS}) AS number
"""  # noqa: S608 - a constant
FILL_LOG = f"""
    INSERT INTO events_event (position, day, type, "timestamp", subject_id, is_public)
    SELECT -number, (now() AT TIME ZONE 'UTC')::date, 'author.updated', now(), number, true
    FROM generate_series(1, {ROWS}) AS number
"""  # noqa: S608


@pytest.fixture(autouse=True)
def forget_statistics(db: None) -> None:  # noqa: ARG001
    """Let PostgreSQL forget what it knows of the partitions: it may have vacuumed the dead rows of other tests."""
    execute("TRUNCATE events_event, events_delivery CASCADE")


def explain(sql: str) -> list[str]:
    return fetch_column(f"EXPLAIN {sql}")


def list_scans(statements: CaptureQueriesContext) -> list[str]:
    """Return the lines of the plans that read whole partitions of deliveries or events."""
    today = f"{timezone.now():%Y%m%d}"
    tables = [f"Seq Scan on {table}_{today}" for table in ("events_delivery", "events_event")]
    plans = [
        line
        for query in statements.captured_queries
        if query["sql"].lstrip().startswith(("SELECT", "UPDATE", "INSERT", "WITH")) and "events_" in query["sql"]
        for line in explain(query["sql"])
    ]
    assert len(plans) > 20
    return [line for line in plans if any(table in line for table in tables)]


def test_statements_of_a_round_read_no_partition_as_a_whole() -> None:
    webhook = make_hook()
    execute(FILL, [webhook.pk])
    execute(FILL_LOG)
    make_author()
    relay()
    lease = uuid4()

    with CaptureQueriesContext(connection) as statements:
        (pk,) = find_webhooks()
        claimed = claim(lease, pk)
        assert claimed is not None
        results = [judge(each, ReceivedResponse(204), timezone.now(), 0.1) for each in claimed.deliveries]
        record(lease, webhook.pk, results)
        webhook.coalesce = 30
        planning.plan(webhook, claimed.actor, read_log())

    assert len(results) == 64
    assert list_scans(statements) == []


def test_bodies_are_read_by_the_index() -> None:
    webhook = make_hook()
    for _ in range(10):
        make_author()
    relay()
    claimed = claim(uuid4(), webhook.pk)
    assert claimed is not None

    with CaptureQueriesContext(connection) as statements:
        bodies = read_bodies(*claimed)

    (query,) = [query for query in statements.captured_queries if 'FROM "events_event"' in query["sql"]]
    number = query["sql"].count("$")
    assert len(bodies) == 10
    execute(f"SET LOCAL plan_cache_mode = force_generic_plan; PREPARE bodies AS {query['sql']}")
    plan = explain(f"EXECUTE bodies ({', '.join(['NULL'] * number)})")
    execute("DEALLOCATE bodies")
    assert any("Index Scan" in line for line in plan)
    assert not [line for line in plan if f"Seq Scan on events_event_{timezone.now():%Y%m%d}" in line]
