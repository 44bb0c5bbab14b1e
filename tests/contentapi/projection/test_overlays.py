"""Rows some columns of which have other values for one statement."""

import json

import pytest
from django.db.models import Q

from blog.models import Author, Post, PostStatus
from contentapi.projection import filter_by_union, replace_columns
from tests.factories import make_author, make_post

pytestmark = pytest.mark.django_db

PUBLIC = Q(status=PostStatus.PUBLISHED)


def build_records(*posts: Post, **values: object) -> str:
    return json.dumps([{"id": post.pk, **values} for post in posts])


def test_row_with_a_record_has_its_values_and_others_have_their_own() -> None:
    changed, other = make_post(title="Ebb", tags=["a"]), make_post(title="Low", tags=["b"])
    records = build_records(changed, title="Flood", tags=["x", "y'\"%s"], excerpt=None)

    rows = replace_columns(Post.objects.order_by("pk"), records, ["title", "tags", "excerpt"], {"renderer": "version"})

    assert [(row.pk, row.title, row.tags, row.renderer) for row in rows] == [
        (changed.pk, "Flood", ["x", "y'\"%s"], 1),
        (other.pk, "Low", ["b"], None),
    ]


def test_conditions_and_orders_read_the_values_that_are_shown() -> None:
    first, second = make_post(title="A"), make_post(title="B")
    rows = replace_columns(Post.objects.all(), build_records(first, title="C"), ["title"])

    assert list(rows.filter(title="A")) == []
    assert list(rows.filter(title="C")) == [first]
    assert [row.pk for row in rows.order_by("title")] == [second.pk, first.pk]
    assert rows.filter(title="C").count() == 1
    assert list(Author.objects.filter(posts__in=rows.filter(title="C"))) == [first.author]


def test_rows_of_a_union_can_have_other_values() -> None:
    author = make_author()
    public, own = make_post(title="Public"), make_post(author=author, status="draft", title="Own")
    make_post(status="draft")
    united = filter_by_union(Post.objects.all(), [PUBLIC, ~PUBLIC & Q(author=author)])

    rows = replace_columns(united, build_records(public, own, title="Shown"), ["title"]).order_by("pk")

    assert [(row.pk, row.title) for row in rows] == [(public.pk, "Shown"), (own.pk, "Shown")]


def test_rows_that_are_locked_or_written_are_those_of_the_table() -> None:
    post = make_post(title="Ebb")
    rows = replace_columns(Post.objects.all(), build_records(post, title="Flood"), ["title"])

    assert [row.title for row in rows.select_for_update()] == ["Ebb"]
    assert rows.filter(pk=post.pk).update(body="New") == 1
    assert Post.objects.values_list("title", "body").get() == ("Ebb", "New")


def test_original_query_stays_as_it_is() -> None:
    post = make_post(title="Ebb")
    rows = Post.objects.all()

    replace_columns(rows, build_records(post, title="Flood"), ["title"])

    assert [row.title for row in rows] == ["Ebb"]
