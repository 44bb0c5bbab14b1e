"""Lists of the admin: filters, labels, and a constant number of statements."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from contentapi.core.identity import OPERATOR, Role
from tests.factories import make_author, make_comment, make_order, make_post, make_user
from users import services
from users.admin_bases import BoundedPaginator
from users.models import ApiKey

POSTS = reverse("admin:blog_post_changelist")

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(client: Client) -> Client:
    client.force_login(make_user(Role.ADMIN))
    return client


def titles(response: Any) -> list[str]:
    return [post.title for post in response.context["cl"].result_list]


def test_posts_are_filtered_by_status_author_and_tag(browser: Client) -> None:
    author = make_author()
    make_post(title="A", author=author, status="draft", tags=["soup"])
    make_post(title="B", author=author, status="published", tags=["soup"])
    make_post(title="C", status="draft", tags=["soups"])

    assert titles(browser.get(POSTS, {"status__exact": "draft"})) == ["C", "A"]
    assert titles(browser.get(POSTS, {"author__id__exact": author.pk})) == ["B", "A"]
    assert titles(browser.get(POSTS, {"tag": "soup"})) == ["B", "A"]
    assert titles(browser.get(POSTS, {"tag": "soup", "status__exact": "draft"})) == ["A"]


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        ({"created_at_from": "2026-02-02"}, ["C", "B"]),
        ({"created_at_to": "2026-02-02"}, ["B", "A"]),
        ({"created_at_from": "2026-02-02", "created_at_to": "2026-02-02"}, ["B"]),
        ({"created_at_from": "x"}, ["C", "B", "A"]),
    ],
)
def test_posts_are_filtered_by_whole_days(browser: Client, days: dict[str, str], expected: list[str]) -> None:
    for title, time in {"A": (2026, 2, 1, 23, 59), "B": (2026, 2, 2, 23, 59), "C": (2026, 2, 3, 0, 0)}.items():
        make_post(title=title, created_at=datetime(*time, tzinfo=UTC))

    assert titles(browser.get(POSTS, days)) == expected


def test_list_of_posts_shows_status_tags_and_times(browser: Client) -> None:
    time = datetime(2026, 2, 1, 12, 30, tzinfo=UTC)
    make_post(status="published", tags=["soup", "bread"], published_at=time, updated_at=time)

    text = browser.get(POSTS).text

    assert text.count('<time datetime="2026-02-01T12:30:00+00:00" data-local>2026-02-01 12:30 UTC</time>') == 2
    assert "soup, bread" in text
    assert "bg-green-100" in text


def make_rows() -> None:
    user = make_user(Role.AUTHOR)
    make_comment(make_post(author=make_author(user=user)))
    make_order(user=user)
    services.create_api_key(actor=OPERATOR, email=user.email, name="x")


@pytest.mark.parametrize(
    "page", ["blog_post", "blog_comment", "blog_author", "users_user", "users_apikey", "orders_order"]
)
def test_list_takes_the_same_statements_for_many_rows(browser: Client, page: str) -> None:
    url = reverse(f"admin:{page}_changelist")
    make_rows()
    browser.get(url)
    with CaptureQueriesContext(connection) as few:
        browser.get(url)
    for _ in range(9):
        make_rows()

    with CaptureQueriesContext(connection) as many:
        response = browser.get(url)

    assert len(response.context["cl"].result_list) >= 10
    assert len(many) == len(few) <= 6


def test_list_of_posts_reads_no_bodies(browser: Client) -> None:
    make_post()

    with CaptureQueriesContext(connection) as captured:
        browser.get(POSTS)

    assert not [query for query in captured.captured_queries if '"blog_post"."body"' in query["sql"]]


@pytest.mark.parametrize("model", list(admin.site._registry), ids=lambda model: model._meta.label)
def test_list_allows_the_parameters_of_its_filters(model: Any) -> None:
    request = RequestFactory().get("/")
    request.user = make_user(Role.ADMIN)
    model_admin = admin.site.get_model_admin(model)

    changes = model_admin.get_changelist_instance(request)

    expected = {name for spec in changes.filter_specs for name in spec.expected_parameters()}
    parameters = {name for name in expected if name and not name.endswith("__isnull")}  # no field is null
    assert parameters <= model_admin.list_lookups  # type: ignore[attr-defined]


def test_long_list_ends_at_the_limit_and_says_so(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoundedPaginator, "MAX_ROWS", 2)
    for _ in range(3):
        make_post()

    response = browser.get(POSTS)

    assert response.context["cl"].result_count == 2
    assert "The list shows the first 2 posts." in response.text


def test_expired_keys_are_named(browser: Client, django_assert_max_num_queries: Callable[[int], Any]) -> None:
    make_rows()
    past = timezone.now() - timedelta(days=1)
    ApiKey.objects.update(created_at=past, expires_at=past + timedelta(hours=1))

    with django_assert_max_num_queries(6):
        text = browser.get(reverse("admin:users_apikey_changelist")).text

    assert "expired" in text
