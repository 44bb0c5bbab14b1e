from typing import Any

import pytest
from django.db.models import Q
from pytest_django import Settings

from blog.models import Author, Comment, Post
from contentapi.db.citus.shards import bind_shard
from contentapi.db.distribution import get_backend
from tests.environment import set_environment

SUBQUERY = 'SELECT (SELECT 1 FROM c WHERE c."a" = %s AND c."post_id" = ("blog_post"."id") AND c."b" = %s)'


@pytest.fixture(autouse=True)
def distributed(settings: Settings) -> None:
    set_environment(settings, CONTENTAPI_DISTRIBUTED="citus")


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Q(pk=1), True),
        (Q(pk=1, status="draft"), True),
        (Q(Q(status="draft") | Q(status="published"), pk=1), True),
        (Q(pk=1) | Q(status="draft"), False),
        (~Q(pk=1), False),
        (Q(pk__in=[1]), False),
        (Q(comments__post=1), False),
    ],
)
def test_query_of_one_post_is_recognised(condition: Q, *, expected: bool) -> None:
    sql = f'{SUBQUERY} FROM "blog_post" WHERE "blog_post"."id" = (%s)'

    assert (bind_shard(Post.objects.filter(condition).query, sql, ("a", "b", 1))[0] != sql) == expected


def test_id_of_the_post_is_a_value_in_its_subqueries() -> None:
    sql = f'{SUBQUERY} FROM "blog_post" WHERE "blog_post"."id" = (%s) LIMIT %s'

    bound, parameters = bind_shard(Post.objects.filter(pk=7).query, sql, ("a", "b", 7, 10))

    assert '"post_id" = (%s::bigint) AND' in bound
    assert parameters == ["a", 7, "b", 7, 10]


def test_statement_of_one_postgresql_is_unchanged(settings: Settings) -> None:
    set_environment(settings)
    sql = f'{SUBQUERY} FROM "blog_post" WHERE "blog_post"."id" = (%s)'

    assert get_backend().place(Post.objects.filter(pk=7).query, sql, ("a", "b", 7)) == (sql, ("a", "b", 7))


def test_ids_and_other_values_keep_their_order() -> None:
    subquery = """(SELECT 1 FROM c WHERE c."a" LIKE '%%s%%' AND c."post_id" = ("blog_post"."id") AND c."b" = %s)"""
    sql = f'SELECT {subquery}, {subquery}, {subquery} FROM "blog_post" WHERE "blog_post"."id" = (%s)'  # noqa: S608 - constants

    bound, parameters = bind_shard(Post.objects.filter(pk=7).query, sql, ("a", "b", "c", 7))

    assert bound.count('"post_id" = (%s::bigint) AND') == 3
    assert parameters == [7, "a", 7, "b", 7, "c", 7]


def test_query_of_one_author_is_recognised() -> None:
    key = '"blog_author"."id"'
    sql = f'SELECT (SELECT 1 FROM c WHERE c."a" = ({key})) FROM "blog_author" WHERE {key} = (%s)'  # noqa: S608 - a constant

    assert bind_shard(Author.objects.filter(pk=7).query, sql, (7,))[1] == [7, 7]


@pytest.mark.parametrize(
    ("posts", "condition", "values"),
    [
        (Q(pk=7) | Q(status="draft"), '("blog_post"."id" = (%s) OR "blog_post"."status" = (%s))', (7, "draft")),
        (Q(status="draft"), '"blog_post"."status" = (%s)', ("draft",)),
        (Q(pk=7), '("blog_post"."id" = (%s) OR x) AND "blog_post"."id" = (%s)', (1, 7)),  # one value of several
    ],
)
def test_statement_of_several_posts_is_unchanged(posts: Q, condition: str, values: tuple[Any, ...]) -> None:
    sql, parameters = f'{SUBQUERY} FROM "blog_post" WHERE {condition}', ("a", "b", *values)

    assert bind_shard(Post.objects.filter(posts).query, sql, parameters) == (sql, parameters)


def test_comment_by_its_id_is_of_no_known_post() -> None:
    key = '"blog_comment"."post_id"'
    sql = f"SELECT (SELECT 1 FROM c WHERE c.id = ({key})) FROM c WHERE {key} = (%s)"  # noqa: S608 - a constant

    assert bind_shard(Comment.objects.filter(pk=1).query, sql, (7,))[0] == sql
    assert bind_shard(Comment.objects.filter(post=1).query, sql, (7,))[1] == [7, 7]
