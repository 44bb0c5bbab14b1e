"""Connections that stay open: whether one still works is mostly seen without asking the server."""

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from blog.models import Author
from blog.selectors import AuthorRow
from contentapi.projection import PreparedInsert, PreparedQuery
from contentapi.projection.cursors import MOST_PREPARED, PREPARED, execute
from tests.factories import make_author


@pytest.mark.django_db(transaction=True)
def test_a_silent_connection_is_usable_without_a_round_trip() -> None:
    connection.ensure_connection()

    with CaptureQueriesContext(connection) as captured:
        usable = connection.is_usable()

    assert usable
    assert len(captured) == 0


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_the_server_has_ended_is_not_usable() -> None:
    other = connections.create_connection("default")
    other.settings_dict = connection.settings_dict
    other.ensure_connection()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [other.connection.info.backend_pid])

    with connection.cursor() as cursor:  # the server has closed the other by the time it answers this
        cursor.execute("SELECT pg_sleep(0.2)")

    assert not other.is_usable()
    other.close()


@pytest.mark.django_db
def test_a_failed_transaction_is_not_usable() -> None:
    with pytest.raises(Exception, match="division by zero"), connection.cursor() as cursor:
        cursor.execute("SELECT 1 / 0")

    assert not connection.is_usable()


@pytest.mark.django_db(transaction=True)
def test_a_statement_of_ours_begins_the_transaction_that_django_is_in() -> None:
    author = make_author(name="Before")

    with transaction.atomic():
        PreparedInsert(Author).create(name="Within")
        transaction.set_rollback(True)

    names = PreparedQuery(AuthorRow, lambda given: Author.objects.filter(name=given("name")))
    assert names.first(name="Within") is None
    assert names.first(name="Before") == AuthorRow(id=author.pk)


@pytest.mark.django_db
def test_a_connection_prepares_no_more_statements_than_its_limit() -> None:
    for number in range(MOST_PREPARED + 20):
        assert execute("default", "", f"SELECT {number}".encode(), [], prepare=True) == [str(number).encode()]

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'projection%'")
        held = cursor.fetchone()
    assert held == (MOST_PREPARED,)
    assert len(PREPARED[connection.connection].names) == MOST_PREPARED
