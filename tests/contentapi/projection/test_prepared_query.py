"""Prepared queries and insertions read and store the same as Django's."""

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


def test_query_returns_the_first_row_with_renamed_columns() -> None:
    author = make_author(name="Ines")
    make_post(author=author, created_at=datetime(2020, 1, 1, tzinfo=UTC))
    newest = make_post(author=author, title="Sou%p é", tags=["a", "b"], status="scheduled", publish_at=LATER)

    row = NEWEST_OF.first(author=author.pk, status="scheduled")

    assert row == PostRow(id=newest.pk, title="Sou%p é", tags=["a", "b"], publish_at=LATER, writer="Ines")


def test_query_without_rows_returns_none() -> None:
    assert NEWEST_OF.first(author=1, status="it's $1 %s") is None


def test_each_execution_binds_its_values_in_one_statement() -> None:
    authors = [make_author(), make_author()]
    posts = [make_post(author=author) for author in authors]

    with CaptureQueriesContext(connection) as captured:
        found = [NEWEST_OF.first(author=author.pk, status="published") for author in authors * 2]

    assert [row and row.id for row in found] == [post.pk for post in posts * 2]
    assert len(captured) == 4
    assert not [query for query in captured if "published" in query["sql"]]


def test_insertion_stores_the_same_row_as_create() -> None:
    author = make_author()
    values = {"title": "Sou%p", "body": "$1", "author_id": author.pk, "tags": ['a "quoted" \\ one', "{b,c}", "NULL"]}

    inserted = PreparedInsert(Post).create({**values, "status": "scheduled", "publish_at": LATER})
    assert inserted

    by_django = Post.objects.create(**values, status="scheduled", publish_at=LATER)
    found = Post.objects.get(pk=inserted.pk)
    for field in Post._meta.concrete_fields:
        if field.name not in ("id", "created_at", "updated_at", "changed_at"):
            assert (
                getattr(found, field.attname) == getattr(inserted, field.attname) == getattr(by_django, field.attname)
            )
    assert found.created_at == inserted.created_at
    assert not inserted._state.adding
    assert (inserted._state.db, inserted.author) == ("default", author)


def test_insertion_against_a_constraint_raises_and_stores_nothing() -> None:
    with pytest.raises(IntegrityError, match="blog_author_name_present"), transaction.atomic():
        PreparedInsert(Author).create({"name": ""})
    with pytest.raises(DataError), transaction.atomic():
        PreparedInsert(Author).create({"name": "x" * 151})

    assert not Author.objects.exists()
