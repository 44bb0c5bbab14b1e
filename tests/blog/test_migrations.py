"""Migrations on a database that has posts already."""

from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from blog import services
from blog.history import versions
from blog.models import Post, PostVersion, SearchChange
from contentapi.core.identity import OPERATOR
from tests.factories import make_author, make_post
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
    new, old = versions.list_versions(actor=OPERATOR, post_id=str(post.pk)).versions
    assert (new.number, new.made.origin, new.changed_fields) == (8, "command line", ["title"])
    assert (old.number, old.made.origin, old.changed_fields) == (7, "", None)
    assert old.made.at == old.values["updated_at"]


CORRECT_TIMES = import_module("blog.migrations.0014_no_times_in_the_future").CORRECT_TIMES
PAST = datetime(2026, 1, 1, tzinfo=UTC)
FUTURE = datetime(2999, 1, 1, tzinfo=UTC)


@pytest.mark.django_db
def test_posts_created_in_the_future_get_the_time_of_their_first_version() -> None:
    imported = make_post(created_at=FUTURE, updated_at=FUTURE, changed_at=PAST)
    edited = make_post(created_at=FUTURE, updated_at=PAST, changed_at=PAST)
    services.edit_post(actor=OPERATOR, post_id=str(edited.pk), changes={"title": "New"})
    older_than_the_history = make_post(created_at=FUTURE, updated_at=FUTURE, changed_at=None)
    began = timezone.now()

    with connection.cursor() as cursor:
        cursor.execute(CORRECT_TIMES)

    for old, version in ((imported, 2), (edited, 3), (older_than_the_history, 2)):
        post = Post.objects.get(pk=old.pk)
        assert (post.version, post.changed_with) == (version, "database")
        assert post.updated_at == post.changed_at
        assert began <= post.updated_at <= timezone.now()
        assert began <= post.created_at <= post.updated_at if old.changed_at is None else post.created_at == PAST
        assert PostVersion.objects.filter(id=post.pk, version=version - 1, created_at=FUTURE).count() == 1
        assert SearchChange.objects.filter(post_id=post.pk).exists()


@pytest.mark.django_db
def test_correction_of_times_changes_no_other_post_and_no_other_time() -> None:
    changed = make_post(created_at=PAST, updated_at=FUTURE, changed_at=PAST)
    right = make_post(created_at=PAST, updated_at=PAST, changed_at=PAST)
    scheduled = make_post(status="scheduled", publish_at=FUTURE, created_at=PAST, updated_at=PAST, changed_at=PAST)
    before = list(Post.objects.order_by("pk").values())

    with connection.cursor() as cursor:
        cursor.execute(CORRECT_TIMES)

    after = list(Post.objects.order_by("pk").values())
    assert [row["id"] for row in after] == [changed.pk, right.pk, scheduled.pk]
    assert after == [{**before[0], "updated_at": PAST}, *before[1:]]


@pytest.mark.django_db
def test_search_has_neither_words_nor_a_function_of_its_own() -> None:
    """Search is the same on every PostgreSQL."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('blog_searchword'), to_regproc('blog_find_similar_words')")
        assert cursor.fetchone() == (None, None)
