from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import Model
from pytest_django import Settings

from blog.models import Comment, Post, PostSource, PostStatus
from contentapi.db.distribution import get_backend
from tests.environment import set_environment
from tests.factories import make_comment, make_post

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(params=["", "citus"], autouse=True)
def distributed(request: pytest.FixtureRequest, settings: Settings) -> None:
    """Both forms work on one PostgreSQL."""
    set_environment(settings, CONTENTAPI_DISTRIBUTED=request.param)


def list_unlocked(model: type[Model]) -> list[Any]:
    """Return the keys of the rows that another connection can lock."""

    def lock() -> list[Any]:
        try:
            with transaction.atomic():
                free = model._base_manager.select_for_update(skip_locked=True).order_by("pk")
                return list(free.values_list("pk", flat=True))
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lock).result()


def test_first_rows_of_an_order_are_locked_until_the_transaction_ends() -> None:
    comments = [make_comment(make_post()) for _ in range(3)]
    rows = Comment.objects.select_related("post").order_by("-pk")

    with transaction.atomic():
        locked = list(get_backend().lock(rows, 2, of=("self",)))
        free = list_unlocked(Comment)

    assert locked == [comments[2], comments[1]]
    assert free == [comments[0].pk]
    assert list_unlocked(Comment) == [comment.pk for comment in comments]


def test_posts_of_rows_are_locked_instead_of_the_rows() -> None:
    post, other = make_post(), make_post()
    columns = {"path": "a.md", "digest": b"", "authors": [], "status": PostStatus.DRAFT}
    source = PostSource.objects.create(post=post, source="site", **columns)

    with transaction.atomic():
        assert get_backend().lock(PostSource.objects.select_related("post"), of=("post",)).first() == source
        assert (list_unlocked(Post), list_unlocked(PostSource)) == ([other.pk], [source.pk])


def test_locked_rows_are_skipped() -> None:
    first, second = make_post(), make_post()

    def skip() -> list[int]:
        try:
            with transaction.atomic():
                return list(
                    get_backend().lock(Post.objects.order_by("pk").values_list("pk", flat=True), skip_locked=True)
                )
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        Post.objects.select_for_update().get(pk=first.pk)
        assert pool.submit(skip).result() == [second.pk]
