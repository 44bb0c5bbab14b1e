"""The index that each query of the blog uses."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import models

from blog import policy, selectors
from blog.models import IS_UNRENDERED, Author, Comment, Post, PostStatus
from blog.projections.posts import select_oldest_visible_comments
from blog.projections.rows import select_visible_posts_of
from blog.rendering import RENDERER
from blog.selectors.posts import POST_ORDERS
from blog.services import moderation
from contentapi.core.identity import ANONYMOUS, OPERATOR, Actor, Role
from contentapi.db.statements import execute
from contentapi.projection import Rows
from tests.blog.test_models import TABLES
from tests.contentapi.projection.test_plans import iterate_nodes
from tests.factories import make_actor, make_author

pytestmark = pytest.mark.thorough
LATER = datetime(2100, 1, 1, tzinfo=UTC)
BY_BOTH = "blog_coauthorship_newest blog_post_pkey"


@pytest.fixture
def author_with_posts(db: None) -> Author:  # noqa: ARG001
    """Create enough posts for the planner to choose an index. Return an author of a twentieth of them."""
    # Without the dead rows of earlier tests, which make indexes longer and so change the planner's choice.
    execute("TRUNCATE blog_author, blog_post, blog_comment CASCADE")
    authors = [make_author() for _ in range(20)]
    began = datetime(2020, 1, 1, tzinfo=UTC)
    posts = Post.objects.bulk_create(
        Post(
            title="Title",
            slug=f"title-{number}" if number % 20 else None,  # most posts have one
            rendered_version=1 if number % 20 else None,
            renderer=RENDERER if number % 20 else None,
            status=[PostStatus.SCHEDULED, PostStatus.PUBLISHED, *[PostStatus.DRAFT] * 18][number % 20],
            publish_at=LATER if number % 20 == 0 else None,
            published_at=began + timedelta(hours=number) if number % 20 == 1 else None,
            author=authors[number // 50],
            coauthor_ids=[authors[(number // 50 + 1) % 20].pk] if number % 7 < 3 else [],
            tags=[f"tag{number % 40}"],
            cover_id=number if number % 50 == 0 else None,
            image_ids=[number] if number % 50 == 1 else None,
            created_at=began + timedelta(hours=number),
        )
        for number in range(1000)
    )
    Comment.objects.bulk_create(
        Comment(post=post, author=post.author, body="!", created_at=began) for post in posts[:200] for _ in range(5)
    )
    Comment.objects.filter(pk__in=Comment.objects.values("pk")[:20]).update(state="hidden", state_changed_at=began)
    execute("ANALYZE blog_author, blog_post, blog_coauthorship, blog_comment")
    execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL random_page_cost = 1.1")
    return authors[3]


def explain(rows: models.QuerySet[Any]) -> tuple[set[str], set[str]]:
    """Return the indexes of posts and comments that a query uses, and the types of the nodes of its plan."""
    plan = list(iterate_nodes(json.loads(rows.explain(format="json"))[0]["Plan"]))
    indexes = {node["Index Name"] for node in plan if "Index Name" in node}
    return indexes - {"blog_author_pkey", "blog_author_user_id_key"}, {node["Node Type"] for node in plan}


def build_own_unpublished_conditions(author: Author) -> tuple[models.Q, models.Q]:
    return ~policy.PUBLIC_POSTS, models.Q(author=author)


def build_first_page(actor: Actor, order: str, fitting: dict[str, str] | None = None) -> models.QuerySet[Any]:
    """Return the rows of a connection's first page."""
    posts = selectors.posts.build_posts_connection(actor, filter=fitting, order_by=POST_ORDERS[order])
    assert isinstance(posts.rows, Rows)
    return posts.rows.queryset().order_by(*posts.order.terms())[:10]


def list_comments_in_state(state: str) -> models.QuerySet[Comment]:
    return selectors.comments.filter_comments_by_state(selectors.comments.select_moderated_comments(OPERATOR), state)


def list_newest(author: Author, actor: Actor) -> models.QuerySet[Post]:
    return select_visible_posts_of(author.pk, actor, status=None).newest_first()[:10]


def list_after(author: Author, actor: Actor, order: str) -> models.QuerySet[Post]:
    """Return a later page of an author's posts."""
    ordering = POST_ORDERS[order]
    posts = select_visible_posts_of(author.pk, actor, status=None)
    return posts.filter(ordering.beyond(datetime(2020, 1, 9, tzinfo=UTC), 10**9)).order_by(*ordering.terms())[:10]


# The indexes that each query uses
QUERIES: list[tuple[str, Callable[[Author], models.QuerySet[Any]]]] = [
    ("blog_post_newest", lambda _: selectors.posts.select_newest_posts(OPERATOR).queryset()),
    ("blog_post_public_newest", lambda _: selectors.posts.select_newest_posts(ANONYMOUS).queryset()),
    ("blog_post_public_newest", lambda _: selectors.posts.select_newest_posts(OPERATOR, status="published").queryset()),
    (f"blog_post_public_author {BY_BOTH}", lambda author: list_newest(author, ANONYMOUS)),
    (f"blog_post_public_author {BY_BOTH}", lambda author: list_after(author, ANONYMOUS, "createdAtDesc")),
    (f"blog_post_public_author {BY_BOTH}", lambda author: list_after(author, ANONYMOUS, "createdAtAsc")),
    ("blog_post_public_tags", lambda _: Post.objects.filter(policy.PUBLIC_POSTS, tags__contains=["tag7"])),
    ("blog_post_hidden_newest", lambda _: selectors.posts.select_newest_posts(OPERATOR, status="scheduled").queryset()),
    ("blog_post_hidden_updated", lambda _: build_first_page(OPERATOR, "updatedAtAsc", {"status": "scheduled"})),
    (
        "blog_post_own_newest",
        lambda author: Post.objects.filter(*build_own_unpublished_conditions(author)).newest_first()[:10],
    ),
    ("blog_post_author_newest blog_coauthorship_newest blog_post_pkey", lambda author: list_newest(author, OPERATOR)),
    (
        "blog_post_author_newest blog_coauthorship_newest blog_post_pkey",
        lambda author: list_after(author, OPERATOR, "createdAtDesc"),
    ),
    (
        "blog_post_public_newest blog_post_own_newest blog_coauthorship_newest blog_post_pkey",
        lambda author: selectors.posts.select_newest_posts(make_actor(Role.AUTHOR, author=author)).queryset(),
    ),
    (
        "blog_post_own_newest blog_coauthorship_newest blog_post_pkey",
        lambda author: selectors.posts.select_newest_posts(
            make_actor(Role.AUTHOR, author=author), status="draft"
        ).queryset(),
    ),
    ("blog_post_updated", lambda _: build_first_page(OPERATOR, "updatedAtDesc")),
    ("blog_post_public_updated", lambda _: build_first_page(ANONYMOUS, "updatedAtAsc")),
    ("blog_post_published", lambda _: build_first_page(OPERATOR, "publishedAtDesc")),
    ("blog_post_public_published", lambda _: build_first_page(ANONYMOUS, "publishedAtAsc")),
    ("blog_post_tags", lambda _: Post.objects.filter(tags__contains=["tag7"])),
    (
        "blog_post_due",
        lambda _: Post.objects.filter(status=PostStatus.SCHEDULED, publish_at__lte=LATER).order_by("publish_at"),
    ),
    ("blog_post_slug", lambda _: Post.objects.filter(slug="a")),
    ("blog_post_cover blog_post_images", lambda _: Post.objects.filter(policy.build_use_condition(7))),
    (f"blog_post_unrendered_{RENDERER}", lambda _: Post.objects.filter(IS_UNRENDERED).order_by("pk")[:10]),
    ("blog_post_without_slug", lambda _: Post.objects.filter(slug=None).order_by("pk")[:100]),
    (
        "blog_comment_post_state",
        lambda author: select_oldest_visible_comments(author.posts.all()[0].comments.all(), OPERATOR)[:100],
    ),
    (
        "blog_comment_newest",
        lambda _: selectors.comments.select_moderated_comments(OPERATOR).order_by("-created_at", "-id")[:5],
    ),
    (
        "blog_comment_newest",
        lambda _: list_comments_in_state("").order_by("-created_at", "-id")[:5],
    ),
    (
        "blog_comment_moderated",
        lambda _: list_comments_in_state("hidden").order_by("-created_at", "-id")[:5],
    ),
    ("blog_comment_deleted", lambda _: moderation.select_expired_comments(LATER)[:5]),
    (
        "blog_post_public_published",
        lambda _: (
            selectors.posts.select_editable_posts(OPERATOR)
            .in_status(PostStatus.PUBLISHED)
            .order_by("-publication_order", "-id")[:5]
        ),
    ),
    ("blog_author_name", lambda author: Author.objects.filter(name=author.name)),
    ("blog_author_created", lambda _: Author.objects.order_by("created_at", "id")[:10]),
]


def test_each_list_is_read_from_its_index_without_a_sort(author_with_posts: Author) -> None:
    for number, (index, build_query) in enumerate(QUERIES):
        indexes, kinds = explain(build_query(author_with_posts))

        sorted_by_id = {"Incremental Sort"} if index == "blog_author_created" else set()  # of authors of the same time
        assert indexes == set(index.split()), f"query {number}"
        assert not kinds & {"Sort", "Incremental Sort", "Seq Scan"} - sorted_by_id, f"query {number}, of {index}"


def test_every_index_has_a_query_that_uses_it() -> None:
    names = {index.name for table in TABLES for index in table._meta.indexes}

    assert {name for indexes, _ in QUERIES for name in indexes.split()} - {"blog_post_pkey"} == names
