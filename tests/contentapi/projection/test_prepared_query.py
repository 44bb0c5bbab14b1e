"""Queries and insertions that are compiled once: what Django's own would have found and stored."""

from datetime import UTC, datetime

import msgspec
import pytest
from django.db import DataError, IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from blog.models import Author, Post
from contentapi.projection import PreparedInsert, PreparedQuery
from tests.factories import make_author, make_post

pytestmark = pytest.mark.django_db

LATER = datetime(2100, 1, 1, 0, 0, 0, 1, tzinfo=UTC)


class PostRow(msgspec.Struct):
    id: int
    title: str
    tags: list[str]
    publish_at: datetime | None
    writer: str


NEWEST_OF = PreparedQuery(
    PostRow,
    lambda given: Post.objects.filter(author=given("author"), status=given("status")).newest_first(),
    {"writer": "author__name"},
)


def test_a_query_finds_the_first_row_with_columns_under_their_own_names() -> None:
    author = make_author(name="Ines")
    make_post(author=author, created_at=datetime(2020, 1, 1, tzinfo=UTC))
    newest = make_post(author=author, title="Sou%p é", tags=["a", "b"], status="scheduled", publish_at=LATER)

    row = NEWEST_OF.first(author=author.pk, status="scheduled")

    assert row == PostRow(id=newest.pk, title="Sou%p é", tags=["a", "b"], publish_at=LATER, writer="Ines")


def test_a_query_without_rows_finds_nothing() -> None:
    assert NEWEST_OF.first(author=1, status="it's $1 %s") is None


def test_each_execution_has_its_own_values_and_costs_one_statement() -> None:
    authors = [make_author(), make_author()]
    posts = [make_post(author=author) for author in authors]

    with CaptureQueriesContext(connection) as captured:
        found = [NEWEST_OF.first(author=author.pk, status="published") for author in authors * 2]

    assert [row and row.id for row in found] == [post.pk for post in posts * 2]
    assert len(captured) == 4
    assert not [query for query in captured if "published" in query["sql"]]


def test_an_insertion_stores_what_create_would_have_stored() -> None:
    author = make_author()
    values = {"title": "Sou%p", "body": "$1", "author_id": author.pk, "tags": ['a "quoted" \\ one', "{b,c}", "NULL"]}

    made = PreparedInsert(Post).create(**values, status="scheduled", publish_at=LATER)

    by_django = Post.objects.create(**values, status="scheduled", publish_at=LATER)
    found = Post.objects.get(pk=made.pk)
    for field in Post._meta.concrete_fields:
        if field.name not in ("id", "created_at", "updated_at"):
            assert getattr(found, field.attname) == getattr(made, field.attname) == getattr(by_django, field.attname)
    assert found.created_at == made.created_at
    assert not made._state.adding
    assert (made._state.db, made.author) == ("default", author)


def test_what_an_insertion_returns_can_be_saved_and_deleted() -> None:
    made = PreparedInsert(Author).create(name="Ines")

    made.name = "Inês"
    made.save()

    assert Author.objects.get().name == "Inês"
    assert made.delete()[0] == 1


def test_an_insertion_against_a_constraint_raises_djangos_error_and_stores_nothing() -> None:
    with pytest.raises(IntegrityError, match="blog_author_name_present"), transaction.atomic():
        PreparedInsert(Author).create(name="")
    with pytest.raises(DataError), transaction.atomic():
        PreparedInsert(Author).create(name="x" * 151)

    assert not Author.objects.exists()


def test_an_insertion_is_undone_with_its_transaction() -> None:
    with transaction.atomic():
        PreparedInsert(Author).create(name="Ines")
        transaction.set_rollback(True)

    assert not Author.objects.exists()
