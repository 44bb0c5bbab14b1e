"""Pages by offset and by cursor. Inserts and deletes during paging neither repeat nor skip an item."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.db.models import Model
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blog.models import Author, Comment, Post
from contentapi.core.errors import Malformed
from contentapi.core.identity import Actor, Role
from contentapi.rest.pages import PageRequest, parse_page_params
from orders.models import Order
from tests.factories import make_actor, make_author, make_comment, make_order, make_post, make_user
from tests.resources import send_request
from tests.thoroughness import scale_examples
from users.models import User

START = datetime(2026, 1, 1, tzinfo=UTC)


def get_page(path: str, actor: Actor | None = None, **parameters: Any) -> Any:
    query = "&".join(f"{name}={quote(str(value))}" for name, value in parameters.items())
    return send_request("GET", f"{path}?{query}", actor=actor)


def iterate_pages(path: str, actor: Actor | None = None, **parameters: Any) -> Iterator[list[Any]]:
    """Yield the ids of each page, one cursor after the other."""
    cursor: dict[str, str] = {}
    while True:
        response = get_page(path, actor, **parameters, **cursor)
        assert response.status == 200
        assert list(response.body) == ["data", "next_cursor"]
        yield [item["id"] for item in response.body["data"]]
        if response.body["next_cursor"] is None:
            return
        cursor = {"cursor": response.body["next_cursor"]}


def test_page_by_offset_has_the_total() -> None:
    posts = [make_post(created_at=START + timedelta(days=day)) for day in range(5)]
    newest_first = [str(post.pk) for post in reversed(posts)]

    response = get_page("/posts", offset=1, limit=2)

    assert [item["id"] for item in response.body.pop("data")] == newest_first[1:3]
    assert response.body == {"total": 5, "offset": 1, "limit": 2}
    assert list(get_page("/posts", offset=0).body) == ["data", "total", "offset", "limit"]
    assert get_page("/posts", offset=9).body == {"data": [], "total": 5, "offset": 9, "limit": 10}


@pytest.mark.parametrize("number", [0, 1, 9, 10, 11, 20])
def test_page_has_ten_items_and_the_last_page_no_cursor(number: int) -> None:
    author = make_author()
    for _ in range(number):
        make_post(author=author)

    sizes = [len(ids) for ids in iterate_pages("/posts")]

    assert sizes == ([10] * (number // 10) + ([number % 10] if number % 10 or not number else []))


def test_cursors_visit_items_with_equal_times() -> None:
    author = make_author()
    posts = [make_post(author=author, created_at=START) for _ in range(5)]

    assert list(iterate_pages("/posts", limit=2)) == [
        [str(posts[4].pk), str(posts[3].pk)], [str(posts[2].pk), str(posts[1].pk)], [str(posts[0].pk)],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "path", ["/posts?tag=x", "/posts?status=published", "/authors", "/orders", "/authors/{author}/posts"]
)
def test_cursor_is_bound_to_its_collection_and_filters(path: str) -> None:
    post = make_post()
    make_post()
    cursor = get_page("/posts", limit=1).body["next_cursor"]
    with_filter = path.format(author=post.author.pk)
    joint = "&" if "?" in with_filter else "?"

    response = send_request("GET", f"{with_filter}{joint}cursor={cursor}", actor=make_actor(Role.ADMIN))

    message = "cursor must be a next_cursor of this collection with the same filters."
    assert response.error == (400, "BAD_REQUEST", message)


def test_cursor_works_with_another_limit() -> None:
    for _ in range(4):
        make_post(tags=["x"])
        make_post()
    first = get_page("/posts", tag="x", limit=1)

    rest = get_page("/posts", tag="x", limit=100, cursor=first.body["next_cursor"])

    assert len(rest.body["data"]) == 3


@pytest.mark.property
@given(st.data())
@settings(suppress_health_check=list(HealthCheck), max_examples=scale_examples(300))
def test_altered_cursor_is_400(data: st.DataObject) -> None:
    cursor = PageRequest("/posts").cursor_after(b'{"id":"17","createdAt":"2026-01-01T00:00:00.123456+00:00"}')
    place = data.draw(st.integers(0, len(cursor) - 1))
    other = data.draw(st.characters(exclude_categories=["Cs"]).filter(lambda character: character != cursor[place]))

    with pytest.raises(Malformed):
        parse_page_params([("cursor", [cursor[:place] + other + cursor[place + 1 :]])], "/posts", ())


def test_authors_keep_their_order_while_others_are_deleted() -> None:
    first, second, third, fourth, fifth = authors = [make_author() for _ in range(5)]
    listed = iterate_pages("/authors", limit=2)

    assert next(listed) == [str(first.pk), str(second.pk)]
    for author in (first, second, fourth):
        author.delete()
    latest = make_author()

    assert list(listed) == [[str(third.pk), str(fifth.pk)], [str(latest.pk)]]
    assert get_page("/authors", offset=1, limit=1).body["total"] == len(authors) - 3 + 1


Make = Callable[[int], Model]


def build_collections() -> dict[str, tuple[str, type[Model], Make]]:
    """Return each collection's path, model and maker of an item at some hour."""
    author, user = make_author(), make_user()
    post = make_post(author=author, created_at=START)

    def at(hour: int) -> datetime:
        return START + timedelta(hours=hour)

    def make_at(hour: int) -> Post:
        return make_post(author=author, created_at=at(hour))

    return {
        "posts": ("/posts", Post, make_at),
        "posts of an author": (f"/authors/{author.pk}/posts", Post, make_at),
        "comments": (f"/posts/{post.pk}/comments", Comment, lambda hour: make_comment(post, created_at=at(hour))),
        "orders": ("/orders", Order, lambda _: make_order(user=user)),
        "users": ("/users", User, lambda _: make_user()),
    }


@pytest.mark.property
@pytest.mark.parametrize("name", ["posts", "posts of an author", "comments", "orders", "users"])
@given(data=st.data())
@settings(suppress_health_check=list(HealthCheck), max_examples=scale_examples(60), deadline=None)
def test_paging_neither_repeats_nor_skips_items_that_stay(name: str, data: st.DataObject) -> None:
    everything: tuple[type[Model], ...] = (Comment, Post, Author, Order, User)
    for kind in everything:
        kind._default_manager.all().delete()
    admin = make_actor(Role.ADMIN)
    path, model, make = build_collections()[name]
    for hour in data.draw(st.lists(st.integers(0, 5), max_size=9), label="hours at first"):
        make(hour)
    safe = {admin.user_id} if path == "/users" else set()
    at_first, gone, seen = {item.pk for item in model._default_manager.all()}, set(), []

    for ids in iterate_pages(path, admin, limit=data.draw(st.integers(1, 4), label="limit")):
        seen += [int(text) for text in ids]
        if len(seen) < 40:
            for hour in data.draw(st.lists(st.integers(0, 5), max_size=2), label="inserted hours"):
                make(hour)
        there = sorted(set(model._default_manager.values_list("pk", flat=True)) - safe)
        for place in data.draw(st.lists(st.integers(0, 20), max_size=2), label="deleted places"):
            doomed = there[place : place + 1]
            model._default_manager.filter(pk__in=doomed).delete()
            gone |= set(doomed)
        if len(seen) > 60:
            break

    assert len(seen) == len(set(seen))
    if len(seen) <= 60:
        assert at_first - gone <= set(seen)
