"""Ids that are unique across the types of the graph."""

from typing import Any

import pytest
from django.db import connection
from django.db.models import Model

from blog.models import Author, Comment, Post
from contentapi.db.ids import SEQUENCE
from orders.models import Order
from tests.factories import make_author, make_comment, make_order, make_post, make_user
from users.models import User

MODELS: list[type[Model]] = [Author, Comment, Post, Order, User]


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
