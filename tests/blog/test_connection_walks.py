"""Walks through a connection in either direction, with pages of any size, during inserts and deletes."""

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blog.models import Author, Comment, Post
from blog.selectors.comments import COMMENT_ORDERS
from blog.selectors.posts import POST_ORDERS
from tests.blog.connection_queries import COMMENTS, POSTS, get_ids, get_time
from tests.contentapi.projection.execution import run
from tests.factories import make_author, make_comment, make_post
from tests.thoroughness import scale_examples

Pages = Callable[..., dict[str, Any]]


def page_reader_of_posts(order: str, chosen: dict[str, Any]) -> Pages:
    return lambda **window: run(POSTS, {**window, "order": order, "filter": chosen}).data["postsConnection"]


def page_reader_of_comments(post: Post, order: str) -> Pages:
    return lambda **window: run(COMMENTS, {**window, "id": post.pk, "order": order}).data["post"]["commentsConnection"]


def walk_pages(
    page: Pages, sizes: Callable[[], int], *, backwards: bool, between: Callable[[], None] = lambda: None
) -> list[int]:
    """Return the ids of a walk from one end to the other, in the order of the connection, for at most 60 pages."""
    draw_size, start, near, far = (
        ("last", "before", "startCursor", "hasPreviousPage")
        if backwards
        else ("first", "after", "endCursor", "hasNextPage")
    )
    found: list[int] = []
    window: dict[str, Any] = {}
    for _ in range(60):
        shown = page(**window, **{draw_size: sizes()})
        found = get_ids(shown) + found if backwards else found + get_ids(shown)
        if not shown["pageInfo"][far]:
            break
        window = {start: shown["pageInfo"][near] or window[start]}
        between()
    return found


def create_rows(hours: list[int]) -> Post:
    """Create posts at these hours, and one more post with comments at these hours. Return the latter."""
    Comment.objects.all().delete()
    Post.objects.all().delete()
    author = Author.objects.first() or make_author()
    post = make_post(author=author, title="x", created_at=get_time(9), updated_at=get_time(9), tags=["t"])
    for hour in hours:
        make_post(
            author=author, title="abc"[hour % 3], created_at=get_time(hour), updated_at=get_time(-hour), tags=["t"]
        )
        make_comment(post, created_at=get_time(hour))
    return post


@given(data=st.data())
@settings(suppress_health_check=list(HealthCheck), max_examples=scale_examples(300), deadline=None)
def test_walk_returns_the_whole_list_and_changes_neither_repeat_nor_skip_the_items_that_stay(
    data: st.DataObject,
) -> None:
    post = create_rows(data.draw(st.lists(st.integers(0, 4), max_size=8), label="hours"))
    of_posts, backwards, changing = (
        data.draw(st.booleans(), label=name) for name in ("posts", "backwards", "changing")
    )
    orders = POST_ORDERS if of_posts else COMMENT_ORDERS
    order = data.draw(st.sampled_from(sorted(orders)), label="order")
    chosen = data.draw(st.sampled_from([{}, {"tag": "t"}, {"createdFrom": get_time(1).isoformat()}]), label="filter")
    page = page_reader_of_posts(order, chosen) if of_posts else page_reader_of_comments(post, order)
    rows: Any = Post.objects.all() if of_posts else Comment.objects.all()
    listed = rows.filter(created_at__gte=get_time(1)) if of_posts and "createdFrom" in chosen else rows
    at_first = list(listed.order_by(*orders[order].terms()).values_list("pk", flat=True))
    gone, rounds = set[int](), iter(range(8))

    def insert_and_delete() -> None:
        if next(rounds, None) is not None:
            for hour in data.draw(st.lists(st.integers(0, 5), max_size=2), label="inserted"):
                moment = {"created_at": get_time(hour)}
                make_post(author=post.author, **moment) if of_posts else make_comment(post, **moment)
        there = sorted(set(rows.values_list("pk", flat=True)))
        for pk in data.draw(st.lists(st.sampled_from(there), max_size=2, unique=True) if there else st.just([])):
            rows.filter(pk=pk).delete()
            gone.add(pk)

    between = insert_and_delete if changing else lambda: None
    seen = walk_pages(page, lambda: data.draw(st.integers(1, 4), label="size"), backwards=backwards, between=between)

    assert len(seen) == len(set(seen))
    assert set(at_first) - gone <= set(seen)
    assert changing or seen == at_first
