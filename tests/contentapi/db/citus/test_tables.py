import pytest
from django.db import connection

from contentapi.db.citus.steps import NotReady, list_steps, read_column, require_known_tables
from contentapi.db.citus.tables import OF_POSTS, ON_COORDINATOR, ON_EACH_NODE


@pytest.mark.django_db
def test_each_table_of_the_database_has_one_place() -> None:
    places = [*OF_POSTS, *ON_EACH_NODE, *ON_COORDINATOR]

    with connection.cursor() as cursor:
        require_known_tables(cursor)
    assert len(places) == len(set(places))


@pytest.mark.django_db
def test_table_without_a_place_stops_the_distribution_and_is_named() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE blog_newcomer (id bigint)")

        with pytest.raises(NotReady, match="blog_newcomer"):
            require_known_tables(cursor)


@pytest.mark.django_db
def test_database_that_is_not_migrated_stops_the_distribution() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE blog_oldslug")

        with pytest.raises(NotReady, match=r"manage.py migrate.*blog_oldslug"):
            require_known_tables(cursor)


@pytest.mark.django_db
def test_database_without_citus_stops_the_distribution() -> None:
    with connection.cursor() as cursor, pytest.raises(NotReady, match="CREATE EXTENSION citus"):
        list(list_steps(cursor, 8))


@pytest.mark.django_db
def test_column_of_the_post_is_in_each_table_of_posts() -> None:
    with connection.cursor() as cursor:
        for table, column in OF_POSTS.items():
            sql = "SELECT attname FROM pg_attribute WHERE attrelid = '{}'::regclass AND attnum > 0"
            assert column in read_column(cursor, sql.format(table))
