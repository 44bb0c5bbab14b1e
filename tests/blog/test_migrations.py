"""Migrations on a database that has posts already."""

from collections.abc import Iterator

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker

from blog import history, services
from blog.models import Post
from contentapi.core.identity import OPERATOR
from tests.factories import make_author
from tests.new_database import migrate, use_new_database


@pytest.fixture
def database_before_the_history(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:  # noqa: ARG001
    with use_new_database(django_db_blocker):
        migrate([("blog", "0003_post_source_name")])
        yield


@pytest.mark.thorough
@pytest.mark.usefixtures("database_before_the_history")
def test_post_that_is_older_than_the_history_is_kept_and_its_changes_are_versions() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO blog_post (title, body, status, author_id, tags, created_at, updated_at, version)"
            " VALUES ('Soup', 'Hot.', 'draft', %s, '{a}', '2020-01-01Z', '2020-01-02Z', 7)",
            [make_author().pk],
        )

    migrate()

    post = Post.objects.get()
    assert (post.title, post.body, post.tags, post.version) == ("Soup", "Hot.", ["a"], 7)
    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"title": "New"})
    new, old = history.list_versions(actor=OPERATOR, post_id=str(post.pk)).versions
    assert (new.number, new.made.origin, new.changed_fields) == (8, "command line", ["title"])
    assert (old.number, old.made.origin, old.changed_fields) == (7, "", None)
    assert old.made.at == old.values["updated_at"]


@pytest.mark.django_db
def test_search_has_neither_words_nor_a_function_of_its_own() -> None:
    """Search is the same on every PostgreSQL."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('blog_searchword'), to_regproc('blog_find_similar_words')")
        assert cursor.fetchone() == (None, None)
