"""Lists of the admin: filters, labels, and a constant number of statements."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.contrib import admin
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from blog.desk import queries
from blog.search.indexing import SearchIndexer
from contentapi.core.identity import OPERATOR, Role
from tests.admin_forms import read_form, submit_form
from tests.factories import make_author, make_comment, make_order, make_post, make_user
from users import services
from users.admin_bases import BoundedPaginator, PolicyAdmin
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


def test_list_without_rows_says_whether_a_filter_hides_them(browser: Client) -> None:
    assert "There are no posts yet" in browser.get(POSTS).content.decode()
    make_post(status="published")
    hidden = browser.get(POSTS, {"status__exact": "draft"}).content.decode()
    assert "No posts match" in hidden
    assert "Show all posts" in hidden
    assert "Show all posts" in browser.get(POSTS, {"q": "kelp"}).content.decode()


def test_posts_are_filtered_by_whole_days(browser: Client) -> None:
    for title, time in {"A": (2026, 2, 1, 23, 59), "B": (2026, 2, 2, 23, 59), "C": (2026, 2, 3, 0, 0)}.items():
        make_post(title=title, created_at=datetime(*time, tzinfo=UTC))

    assert titles(browser.get(POSTS, {"created_at_from": "2026-02-02"})) == ["C", "B"]
    assert titles(browser.get(POSTS, {"created_at_to": "2026-02-02"})) == ["B", "A"]
    assert titles(browser.get(POSTS, {"created_at_from": "2026-02-02", "created_at_to": "2026-02-02"})) == ["B"]
    assert titles(browser.get(POSTS, {"created_at_from": "x"})) == ["C", "B", "A"]


def test_posts_are_filtered_by_days_of_publication(browser: Client) -> None:
    for title, time in {"A": (2026, 2, 1, 23, 59), "B": (2026, 2, 2, 23, 59), "C": (2026, 2, 3, 0, 0)}.items():
        make_post(title=title, published_at=datetime(*time, tzinfo=UTC))
    make_post(title="Never", published_at=None, status="draft")

    assert titles(browser.get(POSTS, {"published_at_from": "2026-02-02"})) == ["C", "B"]
    assert titles(browser.get(POSTS, {"published_at_to": "2026-02-02"})) == ["B", "A"]
    assert titles(browser.get(POSTS, {"published_at_from": "2026-02-02", "published_at_to": "2026-02-02"})) == ["B"]
    assert titles(browser.get(POSTS, {"published_at_to": "x"})) == ["Never", "C", "B", "A"]


def schedule(title: str, time: str) -> None:
    make_post(title=title, status="scheduled", publish_at=datetime.fromisoformat(f"{time}+00:00"))


def test_scheduled_posts_are_shown_filtered_and_ordered_by_their_time(browser: Client) -> None:
    for title, time in {"B": "2100-02-02T23:59", "A": "2100-02-01T23:59", "C": "2100-02-03T00:00"}.items():
        schedule(title, time)
    make_post(title="Out")
    only = {"status__exact": "scheduled"}
    shown = '<time datetime="2100-02-01T23:59:00+00:00" data-local>2100-02-01 23:59 UTC</time>'

    everything, scheduled = browser.get(POSTS), browser.get(POSTS, only)

    assert f"scheduled for {shown}" in everything.text
    assert shown in scheduled.text
    assert "Publish at" in scheduled.text
    assert titles(scheduled) == ["A", "B", "C"]
    assert titles(browser.get(POSTS, {**only, "o": "-2"})) == ["C", "B", "A"]
    assert titles(browser.get(POSTS, {**only, "publish_at_from": "2100-02-02"})) == ["B", "C"]
    assert set(titles(browser.get(POSTS, {"publish_at_to": "2100-02-02"}))) == {"A", "B"}
    assert len(titles(browser.get(POSTS, {"publish_at_to": "x"}))) == 4


def test_order_of_scheduled_posts_is_that_of_an_index(browser: Client) -> None:
    schedule("A", "2100-02-01T00:00")
    with CaptureQueriesContext(connection) as captured:
        browser.get(POSTS, {"status__exact": "scheduled"})
    statements = [each["sql"] for each in captured.captured_queries if '"publish_at" ASC' in each["sql"]]

    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {statements[0]}")
        plan = " ".join(line for (line,) in cursor.fetchall())

    assert "blog_post_due" in plan


def read_tabs(response: Any) -> list[tuple[str, dict[str, str], bool]]:
    return [(label, dict(parse_qsl(address[1:])), current) for label, address, current in response.context["cl"].tabs]


def test_tabs_keep_the_filters_and_the_search_and_no_order(browser: Client) -> None:
    kept = {"tag": "soup", "publish_at_from": "2100-01-01", "q": "kelp"}

    tabs = read_tabs(browser.get(POSTS, {**kept, "status__exact": "draft", "o": "-5", "p": "1"}))

    statuses = {"Drafts": "draft", "Scheduled": "scheduled", "Published": "published"}
    assert tabs == [
        *[(label, {**kept, "status__exact": status}, status == "draft") for label, status in statuses.items()],
        ("All", kept, False),
    ]
    assert [current for *_, current in read_tabs(browser.get(POSTS))] == [False, False, False, True]
    assert [current for *_, current in read_tabs(browser.get(POSTS, {"status__exact": "archived"}))] == [False] * 4
    assert 'aria-current="page">All</a>' in browser.get(POSTS).text


def test_filter_by_tag_names_the_address_of_its_suggestions(browser: Client) -> None:
    page = browser.get(POSTS).text
    assert f'data-suggestions="{reverse("admin:blog_post_tags")}"' in page
    assert "blog/tag_filter" in page


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
    SearchIndexer().update(actor=OPERATOR)
    return {**FILTERS, "author__id__exact": str(author.pk), "q": "title", "o": "-5"}


def test_address_with_all_filters_shows_the_same_list_in_another_session(browser: Client) -> None:
    parameters = make_filtered_posts(2)
    colleague = Client()
    colleague.force_login(make_user(Role.EDITOR))

    assert len(titles(browser.get(POSTS, parameters))) == 2
    assert titles(colleague.get(POSTS, parameters)) == titles(browser.get(POSTS, parameters))


def test_links_to_pages_orders_and_posts_keep_the_filters(browser: Client) -> None:
    parameters = make_filtered_posts(26)

    links = [urlsplit(address) for address in Links(browser.get(POSTS, parameters).text).addresses]

    queries = [dict(parse_qsl(link.query)) for link in links if not link.path]
    pages = [query for query in queries if "p" in query]
    orders = [query for query in queries if query.get("o") not in (None, "-5")]
    opened = [dict(parse_qsl(link.query)) for link in links if link.path.endswith("/change/")]
    kept = {name: value for name, value in parameters.items() if name != "o"}
    assert pages
    assert orders
    assert len(opened) >= 25
    assert all(kept.items() <= query.items() for query in [*pages, *orders])
    assert all(dict(parse_qsl(query["_changelist_filters"])) == parameters for query in opened)


def test_post_that_is_saved_leads_back_to_the_filtered_list(browser: Client) -> None:
    parameters = make_filtered_posts(1)
    page = browser.get(POSTS, parameters)
    address = next(each for each in Links(page.text).addresses if "/change/" in each)

    saved = submit_form(browser, address, title="New title")

    assert saved.status_code == 302
    target = urlsplit(saved["Location"])
    assert (target.path, dict(parse_qsl(target.query))) == (POSTS, parameters)


def test_form_of_the_filters_keeps_search_and_order(browser: Client) -> None:
    parameters = make_filtered_posts(1)

    values = read_form(browser.get(POSTS, parameters).text)

    assert {name: values.get(name) for name in parameters} == parameters


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


def test_list_takes_the_same_statements_for_many_rows(browser: Client) -> None:
    pages = ("blog_post", "blog_comment", "blog_author", "users_user", "users_apikey", "orders_order")
    urls = [reverse(f"admin:{page}_changelist") for page in pages]
    make_rows()
    few = {}
    for url in urls:
        browser.get(url)
        with CaptureQueriesContext(connection) as captured:
            browser.get(url)
        few[url] = len(captured)
    for _ in range(9):
        make_rows()

    for url in urls:
        with CaptureQueriesContext(connection) as captured:
            response = browser.get(url)

        assert len(response.context["cl"].result_list) >= 10, url
        assert len(captured) == few[url] <= 6, url


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
    assert "more than 2 posts" in " ".join(response.text.split())


def test_bar_of_actions_says_that_the_number_is_a_limit(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PolicyAdmin, "list_per_page", 1)
    author = make_author()
    for _ in range(3):
        make_post(author=author)

    assert "Select all 3 posts" in browser.get(POSTS).text
    monkeypatch.setattr(BoundedPaginator, "MAX_ROWS", 2)
    text = browser.get(POSTS).text

    assert "Select the first 2 posts" in text
    assert "The first 2 selected" in text


def test_search_that_finds_as_much_as_it_can_says_so(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("blog.search.query.MAX_MATCHES", "blog.desk.posts.admin.MAX_MATCHES"):
        monkeypatch.setattr(name, 2)
    author = make_author()
    for status in ("draft", "draft", "published"):
        make_post(title="Kelp", author=author, status=status)
    SearchIndexer().update(actor=OPERATOR)

    found, filtered = (" ".join(browser.get(POSTS, values).text.split()) for values in (
        {"q": "kelp"}, {"q": "kelp", "status__exact": "published"}
    ))  # fmt: skip

    assert "the first 2 posts" in found
    assert "The search finds the first 2 posts, the newest ones." in found
    assert "the first 1 post" not in filtered
    assert "The search finds the first 2 posts, the newest ones." in filtered


def test_numbers_above_a_thousand_have_separators(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoundedPaginator, "MAX_ROWS", 1234)
    monkeypatch.setattr(BoundedPaginator, "bounded_count", 1235)

    assert "more than 1,234 posts" in " ".join(browser.get(POSTS).text.split())


def test_days_of_a_filter_are_fields_of_the_browser(browser: Client) -> None:
    text = browser.get(POSTS, {"created_at_from": "2026-05-01"}).text

    assert re.search(r'<input type="date" name="created_at_from" value="2026-05-01"', text)
    assert "DateTimeShortcuts" not in text


COMMENTS = reverse("admin:blog_comment_changelist")


def test_comments_are_searched_by_text_and_author(browser: Client) -> None:
    post = make_post()
    make_comment(post, author=make_author(name="Cook"), body="Hot.")
    make_comment(post, body="Cold.")

    for term in ("hot", "cook"):
        assert [comment.body for comment in browser.get(COMMENTS, {"q": term}).context["cl"].result_list] == ["Hot."]


def test_search_in_many_comments_covers_the_newest(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "MAX_COUNT", 2)
    post, time = make_post(), datetime(2026, 2, 1, tzinfo=UTC)
    for number in range(3):
        make_comment(post, body=f"Soup {number}", created_at=time + timedelta(days=number))

    newest = browser.get(COMMENTS, {"q": "soup"})
    older = browser.get(COMMENTS, {"q": "soup", "created_at_to": "2026-02-01"})

    assert [comment.body for comment in newest.context["cl"].result_list] == ["Soup 2", "Soup 1"]
    assert [comment.body for comment in older.context["cl"].result_list] == ["Soup 0"]


@pytest.mark.parametrize("order", ["5", "-5"])
def test_list_of_posts_is_ordered_by_the_columns_of_an_index(browser: Client, order: str) -> None:
    for _ in range(3):
        make_post(published_at=None, status="draft")

    with CaptureQueriesContext(connection) as captured:
        browser.get(POSTS, {"o": order})

    direction = "DESC" if order == "-5" else "ASC"
    expected = f'ORDER BY "blog_post"."publication_order" {direction}, "blog_post"."id" {direction}'
    assert [query for query in captured.captured_queries if query["sql"].endswith(expected)]


def test_expired_keys_are_named(browser: Client, django_assert_max_num_queries: Callable[[int], Any]) -> None:
    make_rows()
    past = timezone.now() - timedelta(days=1)
    ApiKey.objects.update(created_at=past, expires_at=past + timedelta(hours=1))

    with django_assert_max_num_queries(6):
        text = browser.get(reverse("admin:users_apikey_changelist")).text

    assert "expired" in text
