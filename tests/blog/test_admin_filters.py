"""Filters of the lists of the admin: what they select, their tabs, and links that keep them."""

from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.contrib import admin
from django.test import Client, RequestFactory
from django.urls import reverse

from contentapi.core.identity import Role
from contentapi.desk.bases import PolicyAdmin
from tests.admin_forms import read_form, submit_form
from tests.blog.search_posts import index_posts
from tests.factories import make_author, make_post, make_user

POSTS = reverse("admin:blog_post_changelist")


def titles(response: Any) -> list[str]:
    return [post.title for post in response.context["cl"].result_list]


def test_posts_are_filtered_by_status_author_and_tag(admin_client: Client) -> None:
    author = make_author()
    make_post(title="A", author=author, status="draft", tags=["soup"])
    make_post(title="B", author=author, status="published", tags=["soup"])
    make_post(title="C", status="draft", tags=["soups"])

    assert titles(admin_client.get(POSTS, {"author__id__exact": author.pk})) == ["B", "A"]
    assert titles(admin_client.get(POSTS, {"tag": "soup", "status__exact": "draft"})) == ["A"]


def test_list_without_rows_says_whether_a_filter_hides_them(admin_client: Client) -> None:
    assert "There are no posts yet" in admin_client.get(POSTS).text
    make_post(status="published")
    hidden = admin_client.get(POSTS, {"status__exact": "draft"}).text
    assert "No posts match" in hidden
    assert "Show all posts" in hidden


def test_posts_are_filtered_by_whole_days(admin_client: Client) -> None:
    for title, time in {"A": (2026, 2, 1, 23, 59), "B": (2026, 2, 2, 23, 59), "C": (2026, 2, 3, 0, 0)}.items():
        make_post(title=title, created_at=datetime(*time, tzinfo=UTC))

    assert titles(admin_client.get(POSTS, {"created_at_from": "2026-02-02"})) == ["C", "B"]
    assert titles(admin_client.get(POSTS, {"created_at_from": "x", "created_at_to": "2026-02-02"})) == ["B", "A"]


def schedule(title: str, time: str) -> None:
    make_post(title=title, status="scheduled", publish_at=datetime.fromisoformat(f"{time}+00:00"))


def test_scheduled_posts_are_shown_filtered_and_ordered_by_their_time(admin_client: Client) -> None:
    for title, time in {"B": "2100-02-02T23:59", "A": "2100-02-01T23:59", "C": "2100-02-03T00:00"}.items():
        schedule(title, time)
    make_post(title="Out")
    only = {"status__exact": "scheduled"}
    shown = '<time datetime="2100-02-01T23:59:00+00:00" data-local>2100-02-01 23:59 UTC</time>'

    everything, scheduled = admin_client.get(POSTS), admin_client.get(POSTS, only)

    assert f"scheduled for {shown}" in everything.text
    assert shown in scheduled.text
    assert "Publish at" in scheduled.text
    assert titles(scheduled) == ["A", "B", "C"]
    assert titles(admin_client.get(POSTS, {**only, "o": "-2"})) == ["C", "B", "A"]
    assert titles(admin_client.get(POSTS, {**only, "publish_at_from": "2100-02-02"})) == ["B", "C"]
    assert set(titles(admin_client.get(POSTS, {"publish_at_to": "2100-02-02"}))) == {"A", "B"}


def read_tabs(response: Any) -> list[tuple[str, dict[str, str], bool]]:
    return [(label, dict(parse_qsl(address[1:])), current) for label, address, current in response.context["cl"].tabs]


def test_tabs_keep_the_filters_and_the_search_and_no_order(admin_client: Client) -> None:
    kept = {"tag": "soup", "publish_at_from": "2100-01-01", "q": "kelp"}

    tabs = read_tabs(admin_client.get(POSTS, {**kept, "status__exact": "draft", "o": "-5", "p": "1"}))

    statuses = {"Drafts": "draft", "Scheduled": "scheduled", "Published": "published"}
    assert tabs == [
        *[(label, {**kept, "status__exact": status}, status == "draft") for label, status in statuses.items()],
        ("All", kept, False),
    ]
    everything = admin_client.get(POSTS)
    assert [current for *_, current in read_tabs(everything)] == [False, False, False, True]
    assert 'aria-current="page">All</a>' in everything.text


FILTERS = {
    "status__exact": "draft",
    "tag": "soup",
    "created_at_from": "2026-01-01",
    "created_at_to": "2026-12-31",
    "published_at_from": "2026-01-01",
}


class Links(HTMLParser):
    """The addresses of the links of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.addresses.append(dict(attrs).get("href") or "")


def make_filtered_posts(number: int) -> dict[str, str]:
    """Create posts that meet all filters and a search. Return the parameters of the address."""
    author, time = make_author(), datetime(2026, 2, 1, tzinfo=UTC)
    values = {"author": author, "tags": ["soup"], "created_at": time, "published_at": time, "status": "draft"}
    for _ in range(number):
        make_post(**values)
    make_post(title="Other")
    index_posts()
    return {**FILTERS, "author__id__exact": str(author.pk), "q": "title", "o": "-5"}


def test_links_to_pages_orders_and_posts_keep_the_filters(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PolicyAdmin, "list_per_page", 2)
    parameters = make_filtered_posts(3)

    links = [urlsplit(address) for address in Links(admin_client.get(POSTS, parameters).text).addresses]

    queries = [dict(parse_qsl(link.query)) for link in links if not link.path]
    pages = [query for query in queries if "p" in query]
    orders = [query for query in queries if query.get("o") not in (None, "-5")]
    opened = [dict(parse_qsl(link.query)) for link in links if link.path.endswith("/change/")]
    kept = {name: value for name, value in parameters.items() if name != "o"}
    assert pages
    assert orders
    assert len(opened) >= 2
    assert all(kept.items() <= query.items() for query in [*pages, *orders])
    assert all(dict(parse_qsl(query["_changelist_filters"])) == parameters for query in opened)


def test_form_of_the_filters_keeps_search_and_order_and_a_saved_post_leads_back_to_the_list(
    admin_client: Client,
) -> None:
    parameters = make_filtered_posts(1)
    page = admin_client.get(POSTS, parameters)
    values = read_form(page.text)
    assert {name: values.get(name) for name in parameters} == parameters
    address = next(each for each in Links(page.text).addresses if "/change/" in each)

    saved = submit_form(admin_client, address, title="New title")

    assert saved.status_code == 302
    target = urlsplit(saved["Location"])
    assert (target.path, dict(parse_qsl(target.query))) == (POSTS, parameters)


@pytest.mark.parametrize("model", list(admin.site._registry), ids=lambda model: model._meta.label)
def test_list_allows_the_parameters_of_its_filters(model: Any) -> None:
    request = RequestFactory().get("/")
    request.user = make_user(Role.ADMIN)
    model_admin = admin.site.get_model_admin(model)

    changes = model_admin.get_changelist_instance(request)

    expected = {name for spec in changes.filter_specs for name in spec.expected_parameters()}
    parameters = {name for name in expected if name and not name.endswith("__isnull")}  # no field is null
    assert parameters <= model_admin.list_lookups  # type: ignore[attr-defined]
