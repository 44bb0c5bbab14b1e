"""What the benchmark writes into our database to check the servers leaves no trace there."""

from collections.abc import Iterator

import pytest
from django.db import connection

from benchmarks.database import Database
from benchmarks.dataset import POSTS
from benchmarks.postgres import Address
from blog.models import Post, PostVersion, SearchChange
from tests.factories import make_post

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def database() -> Iterator[Database]:
    parameters = connection.get_connection_params()
    database = Database(Address(parameters["host"], parameters["port"]), parameters["dbname"])
    yield database
    database.connection.close()


def test_check_of_freshness_leaves_the_row_as_it_was(database: Database) -> None:
    post = make_post()
    before = Post.objects.values().get(pk=post.pk)

    database.change_title(post.pk, "Changed")
    changed = Post.objects.values().get(pk=post.pk)
    database.change_title(post.pk, before["title"])

    assert changed == before | {"title": "Changed"}
    assert Post.objects.values().get(pk=post.pk) == before
    assert not PostVersion.objects.exists()
    assert not SearchChange.objects.exists()


def test_created_posts_are_deleted_without_a_history(database: Database) -> None:
    kept = make_post(id=POSTS)
    make_post(id=POSTS + 1)

    database.delete_created_posts()

    assert [post.pk for post in Post.objects.all()] == [kept.pk]
    assert not PostVersion.objects.exists()
