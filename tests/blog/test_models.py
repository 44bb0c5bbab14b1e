"""What the database refuses by itself, and which index answers which question."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, models, transaction

from blog import selectors
from blog.models import MAX_BODY, MAX_TAGS, MAX_TITLE, Author, Comment, Post, PostSource, PostStatus
from blog.projections import POST_ORDERS, order_oldest_first, select_newest_visible_posts
from contentapi.core import policy
from contentapi.core.errors import get_constraint_name
from contentapi.core.identity import ANONYMOUS, OPERATOR, Actor
from contentapi.projection import Rows
from tests.factories import make_author, make_comment, make_post

LATER = datetime(2100, 1, 1, tzinfo=UTC)
TABLES: tuple[type[models.Model], ...] = (Author, Post, Comment, PostSource)


def make_source(**values: Any) -> PostSource:
    return PostSource.objects.create(
        **{"post": make_post(), "path": "a.md", "digest": b"", "authors": [], "status": "published", **values}
    )


def make_second_source_of_a_path() -> None:
    make_source(path="soup.md")
    make_source(path="soup.md")


REFUSED: list[tuple[str, Callable[[], object]]] = [
    ("blog_author_name_present", lambda: make_author(name="")),
    ("blog_post_status_known", lambda: make_post(status="lost")),
    ("blog_post_status_known", lambda: make_post(status="")),
    ("blog_post_title_present", lambda: make_post(title="")),
    ("blog_post_body_length", lambda: make_post(body="é" * (MAX_BODY + 1))),
    ("blog_post_tags_number", lambda: make_post(tags=[str(number) for number in range(MAX_TAGS + 1)])),
    ("blog_post_tags_set", lambda: make_post(tags=["a", "b", "a"])),
    ("blog_post_tags_set", lambda: make_post(tags=["a", ""])),
    ("blog_post_tags_set", lambda: make_post(tags=["a", None])),
    ("blog_post_publish_at_iff_scheduled", lambda: make_post(status=PostStatus.SCHEDULED)),
    ("blog_post_publish_at_iff_scheduled", lambda: make_post(status=PostStatus.DRAFT, publish_at=LATER)),
    ("blog_post_publish_at_iff_scheduled", lambda: make_post(status=PostStatus.PUBLISHED, publish_at=LATER)),
    ("blog_post_publish_at_iff_scheduled", lambda: make_post(status=PostStatus.ARCHIVED, publish_at=LATER)),
    ("blog_post_version_positive", lambda: make_post(version=0)),
    ("blog_comment_body_present", lambda: make_comment(make_post(), body="")),
    ("blog_postsource_path_unique", make_second_source_of_a_path),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("name", "write"), REFUSED)
def test_a_row_against_a_constraint_is_refused_by_its_name(name: str, write: Callable[[], object]) -> None:
    with pytest.raises(IntegrityError) as refusal, transaction.atomic():
        write()

    assert get_constraint_name(refusal.value) == name


def test_every_constraint_has_a_row_that_it_refuses() -> None:
    names = {constraint.name for table in TABLES for constraint in table._meta.constraints}

    assert {name for name, _ in REFUSED} == names


@pytest.mark.django_db
@pytest.mark.parametrize(
    "values",
    [
        {"title": "t"},
        {"title": "é" * MAX_TITLE},
        {"body": ""},
        {"body": "é" * MAX_BODY},
        {"tags": []},
        {"tags": [str(number) for number in range(MAX_TAGS)]},
        {"tags": ["a", "A", "á", " a"]},
        {"status": PostStatus.DRAFT},
        {"status": PostStatus.ARCHIVED},
        {"status": PostStatus.SCHEDULED, "publish_at": LATER},
        {"version": 2**63 - 1},
    ],
)
def test_a_post_at_the_edge_is_accepted(values: dict[str, Any]) -> None:
    post = make_post(**values)

    assert Post.objects.values(*values).get(pk=post.pk) == values


@pytest.mark.django_db
def test_sources_of_two_paths_are_accepted() -> None:
    make_source(path="soup.md")
    make_source(path="Soup.md")

    assert sorted(PostSource.objects.values_list("path", flat=True)) == ["Soup.md", "soup.md"]


@pytest.mark.django_db
def test_an_author_with_posts_cannot_be_deleted() -> None:
    post = make_post()

    with pytest.raises(models.ProtectedError):
        post.author.delete()

    assert Post.objects.filter(pk=post.pk).exists()


@pytest.mark.django_db
def test_a_deleted_post_takes_its_comments_and_its_source_with_it() -> None:
    post, other = make_post(), make_post()
    make_comment(post)
    kept = make_comment(other)
    make_source(post=post)

    post.delete()

    assert list(Comment.objects.all()) == [kept]
    assert not PostSource.objects.exists()


@pytest.fixture
def shelf(db: None) -> Author:  # noqa: ARG001
    """Posts enough for the planner to tell the indexes apart; the author given has a twentieth of them."""
    authors = [make_author() for _ in range(20)]
    began = datetime(2020, 1, 1, tzinfo=UTC)
    posts = Post.objects.bulk_create(
        Post(
            title="Title",
            status=[PostStatus.SCHEDULED, PostStatus.PUBLISHED, *[PostStatus.DRAFT] * 18][number % 20],
            publish_at=LATER if number % 20 == 0 else None,
            author=authors[number // 50],
            tags=[f"tag{number % 40}"],
            created_at=began + timedelta(hours=number),
        )
        for number in range(1000)
    )
    Comment.objects.bulk_create(
        Comment(post=post, author=post.author, body="!", created_at=began) for post in posts[:200] for _ in range(5)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE blog_author, blog_post, blog_comment")
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
    return authors[3]


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", []):
        yield from nodes(below)


def explained(rows: models.QuerySet[Any]) -> tuple[set[str], set[str]]:
    """Return which indexes of the posts and comments a query uses, and what kinds of nodes its plan has."""
    plan = list(nodes(json.loads(rows.explain(format="json"))[0]["Plan"]))
    indexes = {node["Index Name"] for node in plan if "Index Name" in node}
    return indexes - {"blog_author_pkey"}, {node["Node Type"] for node in plan}


def unpublished(author: Author) -> tuple[models.Q, models.Q]:
    return ~policy.PUBLIC_POSTS, models.Q(author=author)


def connected(actor: Actor, order: str, fitting: dict[str, str] | None = None) -> models.QuerySet[Any]:
    """Return the rows of a connection's first page."""
    posts = selectors.build_posts_connection(actor, criteria=fitting, order_by=POST_ORDERS[order])
    assert isinstance(posts.rows, Rows)
    return posts.rows.queryset().order_by(*posts.order.terms())[:10]


QUESTIONS: list[tuple[str, Callable[[Author], models.QuerySet[Any]]]] = [
    ("blog_post_newest", lambda _: selectors.select_newest_posts(OPERATOR).queryset()),
    ("blog_post_public_newest", lambda _: selectors.select_newest_posts(ANONYMOUS).queryset()),
    ("blog_post_public_newest", lambda _: selectors.select_newest_posts(OPERATOR, status="published").queryset()),
    (
        "blog_post_public_author",
        lambda author: select_newest_visible_posts(author.posts.all(), ANONYMOUS, status=None)[:10],
    ),
    ("blog_post_public_tags", lambda _: Post.objects.filter(policy.PUBLIC_POSTS, tags__contains=["tag7"])),
    ("blog_post_hidden_newest", lambda _: selectors.select_newest_posts(OPERATOR, status="scheduled").queryset()),
    ("blog_post_hidden_updated", lambda _: connected(OPERATOR, "updatedAtAsc", {"status": "scheduled"})),
    ("blog_post_own_newest", lambda author: Post.objects.filter(*unpublished(author)).newest_first()[:10]),
    (
        "blog_post_author_newest",
        lambda author: select_newest_visible_posts(author.posts.all(), OPERATOR, status=None)[:10],
    ),
    ("blog_post_updated", lambda _: connected(OPERATOR, "updatedAtDesc")),
    ("blog_post_published", lambda _: connected(OPERATOR, "publishedAtDesc")),
    ("blog_post_public_published", lambda _: connected(ANONYMOUS, "publishedAtAsc")),
    ("blog_post_public_updated", lambda _: connected(ANONYMOUS, "updatedAtAsc")),
    ("blog_post_tags", lambda _: Post.objects.filter(tags__contains=["tag7"])),
    (
        "blog_post_due",
        lambda _: Post.objects.filter(status=PostStatus.SCHEDULED, publish_at__lte=LATER).order_by("publish_at"),
    ),
    (
        "blog_comment_post_oldest",
        lambda author: order_oldest_first(author.posts.all()[0].comments.all(), OPERATOR)[:100],
    ),
    ("blog_author_by_name", lambda author: Author.objects.filter(name=author.name)),
]


@pytest.mark.parametrize(("index", "question"), QUESTIONS)
def test_a_list_is_read_from_its_index_without_a_sort(
    shelf: Author, index: str, question: Callable[[Author], models.QuerySet[Any]]
) -> None:
    indexes, kinds = explained(question(shelf))

    assert indexes == {index}
    assert not kinds & {"Sort", "Incremental Sort", "Seq Scan"}


def test_every_index_has_a_question_that_it_answers() -> None:
    names = {index.name for table in TABLES for index in table._meta.indexes}

    assert {name for name, _ in QUESTIONS} == names
