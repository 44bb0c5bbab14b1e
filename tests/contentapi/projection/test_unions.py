"""A union of conditions has the same rows as a disjunction, in all uses of a QuerySet."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from blog.models import Author, Post
from contentapi.projection import Branch, filter_by_union
from tests.factories import make_author, make_comment, make_post

pytestmark = pytest.mark.django_db

BEGAN = datetime(2024, 1, 1, tzinfo=UTC)
CONDITIONS = [Q(status="published"), ~Q(status="published") & Q(title__startswith="Own")]
Use = Callable[[QuerySet[Post]], Any]
USES: dict[str, Use] = {
    "all rows": lambda rows: sorted(row.pk for row in rows),
    "an order": lambda rows: [row.pk for row in rows.order_by("-created_at", "-pk")],
    "the reverse of an order": lambda rows: [row.pk for row in rows.order_by("-created_at", "-pk").reverse()],
    "a random order": lambda rows: sorted(row.pk for row in rows.order_by("?")),
    "an order by another table": lambda rows: [row.pk for row in rows.order_by("author__name", "pk")],
    "a slice": lambda rows: [row.pk for row in rows.order_by("updated_at", "id")[1:3]],
    "a filter": lambda rows: sorted(row.pk for row in rows.filter(title__endswith="1")),
    "an exclusion": lambda rows: sorted(row.pk for row in rows.exclude(title__endswith="1")),
    "a filter by another table": lambda rows: sorted(row.pk for row in rows.filter(author__name="Ida")),
    "a filter by rows that point here": lambda rows: sorted(row.pk for row in rows.filter(comments__body="!")),
    "joined rows": lambda rows: [row.author.name for row in rows.select_related("author").order_by("pk")],
    "a count": lambda rows: rows.count(),
    "a count of a slice": lambda rows: rows.order_by("pk")[:2].count(),
    "an aggregate": lambda rows: rows.aggregate(Count("comments")),
    "existence": lambda rows: (rows.exists(), rows.filter(title="None").exists()),
    "a subquery": lambda rows: sorted(Author.objects.filter(posts__in=rows).distinct().values_list("name", flat=True)),
    "a correlated subquery": lambda rows: sorted(
        Author.objects.filter(Exists(rows.filter(author=OuterRef("pk")))).values_list("name", flat=True)
    ),
    "an intersection": lambda rows: sorted(row.pk for row in Post.objects.filter(title__endswith="1") & rows),
    "a lock": lambda rows: sorted(row.pk for row in rows.select_for_update()),
    "an update": lambda rows: (rows.update(title="New"), sorted(Post.objects.values_list("title", flat=True))),
    "a deletion": lambda rows: (rows.delete()[1]["blog.Post"], sorted(Post.objects.values_list("title", flat=True))),
}


@pytest.fixture(autouse=True)
def posts(db: None) -> None:  # noqa: ARG001
    authors = [make_author(name="Ida"), make_author(name="Bo"), make_author(name="Cy")]
    make_post(author=authors[2], title="Others' alone", status="draft")
    for number in range(8):
        post = make_post(
            author=authors[number % 2],
            title=f"{'Own' if number % 3 else 'Other'} {number % 2}",
            status="draft" if number % 4 else "published",
            created_at=BEGAN + timedelta(days=number * 3 % 8),
            updated_at=BEGAN + timedelta(days=number * 5 % 8),
        )
        make_comment(post, body="!?"[number % 2])


def check_uses(subtests: pytest.Subtests, union: Callable[[], QuerySet[Post]]) -> None:
    """Compare each use of a union with that of the disjunction, and roll both back."""

    def apply(use: Use, rows: QuerySet[Post]) -> Any:
        with transaction.atomic():
            found = use(rows)
            transaction.set_rollback(True)
        return found

    for name, use in USES.items():
        with subtests.test(name):
            assert apply(use, union()) == apply(use, Post.objects.filter(CONDITIONS[0] | CONDITIONS[1]))


def test_union_returns_the_same_as_a_disjunction(subtests: pytest.Subtests) -> None:
    check_uses(subtests, lambda: filter_by_union(Post.objects.all(), CONDITIONS))


def test_branch_through_another_table_returns_the_same_rows(subtests: pytest.Subtests) -> None:
    coauthor = make_author()
    Post.objects.filter(CONDITIONS[1]).update(coauthor_ids=[coauthor.pk])
    columns = {"id": "coauthorships__post_id", "created_at": "coauthorships__created_at"}
    joint = Branch(Post.objects.filter(coauthorships__author=coauthor), columns)
    either = CONDITIONS[0] | CONDITIONS[1]

    check_uses(subtests, lambda: filter_by_union(Post.objects.all(), [CONDITIONS[0], joint], either))


def test_union_of_one_condition_is_a_filter() -> None:
    rows = filter_by_union(Post.objects.all(), CONDITIONS[:1])

    assert str(rows.query) == str(Post.objects.filter(CONDITIONS[0]).query)


def test_each_branch_of_a_union_has_the_order_of_the_query() -> None:
    rows = filter_by_union(Post.objects.all(), CONDITIONS)

    assert str(rows.order_by("-created_at", "-pk").query).count('ORDER BY "blog_post"."created_at" DESC') == 3
    assert str(rows.query).count("ORDER BY") == 0
