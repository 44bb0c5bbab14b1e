"""A test with transactions leaves the database as `migrate` has left it."""

import pytest
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.db import connection

from contentapi.events.feed import read_log
from contentapi.events.models import Log
from tests.event_log import relay
from tests.factories import make_comment, make_order, make_post
from tests.migrated_database import WRITTEN_BY_MIGRATE, empty_tables, list_tables


def count_rows() -> dict[str, int]:
    """Return the number of rows of each table that has some."""
    counts = {}
    with connection.cursor() as cursor:
        for table in list_tables():
            cursor.execute(f"SELECT count(*) FROM {table}")  # noqa: S608
            [(counts[table],)] = cursor.fetchall()
    return {table: count for table, count in counts.items() if count}


@pytest.mark.django_db(transaction=True)
def test_rows_of_a_test_with_transactions_are_deleted_and_those_of_migrate_kept() -> None:
    before = count_rows()
    make_comment(make_post(tags=["tag"]))
    make_order()
    relay()
    assert len(count_rows()) > len(before)

    empty_tables()

    assert count_rows() == before
    assert read_log().position == 0
    assert set(before) == WRITTEN_BY_MIGRATE == {each._meta.db_table for each in (ContentType, Permission, Log)}
