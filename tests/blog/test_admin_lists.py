"""Lists of the admin: labels, limits, orders, and a constant number of statements."""

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from contentapi.core.identity import OPERATOR, Role
from contentapi.desk.bases import PolicyAdmin
from contentapi.desk.lists import BoundedPaginator
from tests.blog.search_posts import index_posts
from tests.factories import make_author, make_comment, make_order, make_post, make_user
from users import services

POSTS = reverse("admin:blog_post_changelist")


def test_list_of_posts_shows_status_tags_and_times(admin_client: Client) -> None:
    time = datetime(2026, 2, 1, 12, 30, tzinfo=UTC)
    make_post(status="published", tags=["soup", "bread"], published_at=time, updated_at=time)

    text = admin_client.get(POSTS).text

    assert text.count('<time datetime="2026-02-01T12:30:00+00:00" data-local>2026-02-01 12:30 UTC</time>') == 2
    assert "soup, bread" in text
    assert "bg-green-100" in text


def make_rows() -> None:
    user = make_user(Role.AUTHOR)
    make_comment(make_post(author=make_author(user=user)))
    make_order(user=user)
    services.create_api_key(actor=OPERATOR, email=user.email, name="x")


@pytest.mark.thorough
def test_list_takes_the_same_statements_for_many_rows(admin_client: Client) -> None:
    pages = ("blog_post", "blog_comment", "blog_author", "users_user", "users_apikey", "orders_order")
    urls = [reverse(f"admin:{page}_changelist") for page in pages]
    make_rows()
    few = {}
    admin_client.get(POSTS)
    for url in urls:
        with CaptureQueriesContext(connection) as captured:
            admin_client.get(url)
        few[url] = len(captured)
    for _ in range(9):
        make_rows()

    for url in urls:
        with CaptureQueriesContext(connection) as captured:
            response = admin_client.get(url)

        assert len(response.context["cl"].result_list) >= 10, url
        assert len(captured) == few[url] <= 6, url
        assert not [query for query in captured.captured_queries if '"blog_post"."body' in query["sql"]], url


def test_long_list_and_its_bar_of_actions_end_at_the_limit_and_say_so(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PolicyAdmin, "list_per_page", 1)
    author = make_author()
    for _ in range(3):
        make_post(author=author)

    assert "Select all 3 posts" in admin_client.get(POSTS).text
    monkeypatch.setattr(BoundedPaginator, "MAX_ROWS", 2)
    response = admin_client.get(POSTS)

    assert response.context["cl"].result_count == 2
    assert "The list shows the first 2 posts." in response.text
    assert "more than 2 posts" in " ".join(response.text.split())
    assert "Select the first 2 posts" in response.text
    assert "The first 2 selected" in response.text


def test_search_that_finds_as_much_as_it_can_says_so(admin_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("blog.search.query.MAX_MATCHES", "blog.desk.posts.list.MAX_MATCHES"):
        monkeypatch.setattr(name, 2)
    author = make_author()
    for status in ("draft", "draft", "published"):
        make_post(title="Kelp", author=author, status=status)
    index_posts()

    found, filtered = (" ".join(admin_client.get(POSTS, values).text.split()) for values in (
        {"q": "kelp"}, {"q": "kelp", "status__exact": "published"}
    ))  # fmt: skip

    assert "the first 2 posts" in found
    assert "The search finds the first 2 posts, the newest ones." in found
    assert "the first 1 post" not in filtered
    assert "The search finds the first 2 posts, the newest ones." in filtered
