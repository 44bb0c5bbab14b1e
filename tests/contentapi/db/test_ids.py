"""Ids that are unique across the types of the graph."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.models import Model
from pytest_django import DjangoDbBlocker

from blog.models import Author, Comment, Post
from contentapi.db.ids import SEQUENCE
from orders.models import Order
from tests.factories import make_author, make_comment, make_order, make_post, make_user
from tests.new_database import migrate, use_new_database
from users.models import User

MODELS: list[type[Model]] = [Author, Comment, Post, Order, User]
BEFORE = [("contentapi", "0002_clock_heartbeat"), ("blog", "0010_misspelled_words")]
BEFORE += [("orders", "0002_order_states"), ("users", "0003_role_help")]
DELETED_ID = 70


def create_one_of_each_type() -> list[int]:
    """Create a row of each type of the graph. Return the ids, with those of the objects that they need."""
    user = make_user()
    author = make_author(user=user)
    post = make_post(author=author)
    return [user.pk, author.pk, post.pk, make_comment(post).pk, make_order(user=user).pk]


def query(sql: str, *parameters: Any) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        row = cursor.fetchone() if cursor.description else None
        return row and row[0]


@pytest.mark.django_db
def test_rows_of_all_types_take_their_ids_from_one_sequence() -> None:
    ids = create_one_of_each_type()

    assert ids == sorted(set(ids))
    for model in MODELS:
        default = query(
            "SELECT column_default FROM information_schema.columns WHERE table_name = %s AND column_name = 'id'",
            model._meta.db_table,
        )
        assert default == f"nextval('{SEQUENCE}'::regclass)"


@pytest.mark.django_db
def test_bulk_creation_takes_ids_from_the_sequence() -> None:
    author = make_author()
    comment = make_comment(make_post(author=author))

    posts = Post.objects.bulk_create(Post(title="Soup", author=author) for _ in range(3))

    assert [post.pk for post in posts] == [comment.pk + 1, comment.pk + 2, comment.pk + 3]


@pytest.fixture
def new_database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:  # noqa: ARG001
    with use_new_database(django_db_blocker):
        yield


@pytest.fixture
def database_with_a_sequence_for_each_table(new_database: None) -> None:  # noqa: ARG001
    migrate(BEFORE)


@pytest.mark.thorough
@pytest.mark.usefixtures("database_with_a_sequence_for_each_table")
def test_migration_keeps_ids_and_new_ids_never_repeat_one() -> None:
    before = create_one_of_each_type()
    deleted = Comment.objects.create(pk=DELETED_ID, post_id=before[2], author_id=before[1], body="Gone.")
    query("SELECT setval(pg_get_serial_sequence('blog_comment', 'id'), %s)", DELETED_ID)
    deleted.delete()
    assert len(set(before)) < len(before)  # each table has counted for itself

    migrate()

    kept = [model.objects.values_list("pk", flat=True).get() for model in (User, Author, Post, Comment, Order)]
    assert kept == before
    after = create_one_of_each_type()
    assert after == list(range(DELETED_ID + 1, DELETED_ID + 6))


@pytest.mark.thorough
@pytest.mark.usefixtures("database_with_a_sequence_for_each_table")
def test_migration_can_be_reversed() -> None:
    migrate()
    shared = create_one_of_each_type()

    migrate(BEFORE)

    assert query("SELECT to_regclass(%s)", SEQUENCE) is None
    assert min(create_one_of_each_type()) > max(shared)


@pytest.mark.thorough
@pytest.mark.usefixtures("new_database")
def test_ids_begin_with_one_in_a_new_database() -> None:
    migrate()

    assert create_one_of_each_type() == [1, 2, 3, 4, 5]
