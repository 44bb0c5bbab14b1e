import re

import pytest
from django.db import connection

from contentapi.db.citus.steps import list_adapted_functions
from contentapi.db.placement import insert_rows, list_copied
from contentapi.db.statements import execute, fetch_rows

READ_FUNCTIONS = """
    SELECT DISTINCT tgrelid::regclass::text, prosrc FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
    WHERE NOT tgisinternal AND tgrelid::regclass::text = ANY(%s) ORDER BY 1, 2
"""
TABLES = ["blog_post", "blog_comment", "blog_author", "blog_image", "orders_order", "users_user"]


@pytest.fixture
def functions(db: None) -> list[tuple[str, str]]:  # noqa: ARG001
    """The tables and bodies of the functions of triggers, in their form for a distributed database."""
    statements = list_adapted_functions()
    for statement in statements:
        execute(statement)
    assert len(statements) > 12
    assert list_adapted_functions() == []
    return fetch_rows(READ_FUNCTIONS, [TABLES])


def test_each_event_has_a_parent(functions: list[tuple[str, str]]) -> None:
    announcing = [source for _, source in functions if "INTO events_outbox" in source]

    assert len(announcing) > 12
    assert all("INSERT INTO events_outbox (parent_id, " in source for source in announcing)


def test_no_trigger_inserts_the_rows_of_a_select(functions: list[tuple[str, str]]) -> None:
    inserting = [source for _, source in functions if "INSERT INTO" in source]

    assert len(inserting) > 15
    for source in inserting:
        assert re.search(r"INSERT INTO [^;]*? VALUES \(", source)
        assert not re.search(r"INSERT INTO \S+ \([^()]*\)\s+SELECT", source)
        assert "EXISTS (SELECT FROM" not in source


def test_change_of_a_row_with_copies_is_announced_by_one_node(functions: list[tuple[str, str]]) -> None:
    for table, source in functions:
        assert ("pg_dist_local_group" in source) == (table in list_copied())


@pytest.mark.django_db
def test_selected_rows_are_inserted_one_by_one() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE shell (id int, name text)")
        inserting = insert_rows("shell", {"id": "n", "name": "'a' || n"}, "FROM generate_series(1, 2) AS n")
        cursor.execute(f"DO $$ BEGIN {inserting} END $$")
        cursor.execute("SELECT * FROM shell ORDER BY 1")

        assert cursor.fetchall() == [(1, "a1"), (2, "a2")]
