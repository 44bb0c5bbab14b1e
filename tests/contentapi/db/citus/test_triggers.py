import re

import pytest
from django.db import connection

from contentapi.db.citus.triggers import READ_FUNCTIONS, adapt_function, list_adapted_functions
from contentapi.db.placement import list_copied

TABLES = ["blog_post", "blog_comment", "blog_author", "blog_image", "orders_order", "users_user"]


def read_functions() -> list[tuple[str, str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(READ_FUNCTIONS, [TABLES])
        rows: list[tuple[str, str, str]] = cursor.fetchall()
    return rows


@pytest.mark.django_db
def test_each_event_has_a_parent_after_the_adaptation() -> None:
    announcing = [(table, source) for table, _, source in read_functions() if "INTO events_outbox" in source]

    adapted = [adapt_function(table, source) for table, source in announcing]

    assert len(announcing) > 12
    assert all("parent_id" in source for source in adapted)
    assert "(SELECT NEW.id, " in adapted[0]


@pytest.mark.django_db
def test_no_trigger_inserts_the_rows_of_a_select() -> None:
    inserting = [adapt_function(table, source) for table, _, source in read_functions() if "INSERT INTO" in source]

    assert len(inserting) > 15
    for source in inserting:
        assert re.search(r"INSERT INTO [^;]*? VALUES \(", source)
        assert not re.search(r"INSERT INTO \S+ \([^()]*\)\s+SELECT", source)


@pytest.mark.django_db
def test_change_of_a_row_with_copies_is_announced_by_one_node() -> None:
    for table, _, source in read_functions():
        is_limited = "pg_dist_local_group" in adapt_function(table, source)

        assert is_limited == (table in list_copied())


@pytest.mark.django_db
def test_adapted_function_is_not_adapted_again() -> None:
    for table, _, source in read_functions():
        adapted = adapt_function(table, source)

        assert adapt_function(table, adapted) == adapted


@pytest.mark.django_db
def test_statements_replace_what_is_not_adapted_yet() -> None:
    with connection.cursor() as cursor:
        statements = list_adapted_functions(cursor)
        for statement in statements:
            cursor.execute(statement)

        assert len(statements) > 12
        assert list_adapted_functions(cursor) == []


@pytest.mark.django_db
def test_conflict_of_old_slugs_needs_no_unique_slug() -> None:
    sources = [adapt_function(table, source) for table, _, source in read_functions() if "blog_oldslug" in source]

    assert len(sources) == 2
    assert not any("ON CONFLICT (slug)" in source for source in sources)
