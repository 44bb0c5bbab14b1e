"""Visible posts of each caller, compared with the permission table."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from blog import selectors
from blog.models import Author, Post, PostStatus
from contentapi.core.identity import ANONYMOUS, OPERATOR, Actor, Role, Scope
from tests.factories import make_actor, make_author, make_post

LATER = datetime(2100, 1, 1, tzinfo=UTC)
ALL = set(PostStatus)


def make_post_with_status(status: str, author: Author) -> Post:
    return make_post(author=author, status=status, publish_at=LATER if status == PostStatus.SCHEDULED else None)


Caller = Callable[[Author], Actor]
CALLERS: dict[
    str, tuple[Caller, set[PostStatus], set[PostStatus]]
] = {  # the caller, visible own posts, visible posts of others
    "anonymous": (lambda _: ANONYMOUS, {PostStatus.PUBLISHED}, {PostStatus.PUBLISHED}),
    "reader": (lambda own: make_actor(Role.READER, author=own), {PostStatus.PUBLISHED}, {PostStatus.PUBLISHED}),
    "author": (lambda own: make_actor(Role.AUTHOR, author=own), ALL, {PostStatus.PUBLISHED}),
    "author without a profile": (lambda _: make_actor(Role.AUTHOR), {PostStatus.PUBLISHED}, {PostStatus.PUBLISHED}),
    "author without posts:read": (
        lambda own: make_actor(Role.AUTHOR, author=own, scopes=set(Scope) - {Scope.POSTS_READ}),
        {PostStatus.PUBLISHED},
        {PostStatus.PUBLISHED},
    ),
    "editor": (lambda _: make_actor(Role.EDITOR), ALL, ALL),
    "editor without posts:read": (
        lambda _: make_actor(Role.EDITOR, scopes=set(Scope) - {Scope.POSTS_READ}),
        {PostStatus.PUBLISHED},
        {PostStatus.PUBLISHED},
    ),
    "admin": (lambda _: make_actor(Role.ADMIN), ALL, ALL),
    "admin with posts:read alone": (lambda _: make_actor(Role.ADMIN, scopes={Scope.POSTS_READ}), ALL, ALL),
    "operator": (lambda _: OPERATOR, ALL, ALL),
}


@pytest.mark.django_db
@pytest.mark.parametrize("caller", CALLERS)
def test_each_caller_finds_and_lists_exactly_the_visible_posts(caller: str) -> None:
    as_caller, own_seen, others_seen = CALLERS[caller]
    own, other = make_author(), make_author()
    posts = {
        (author.pk, status): make_post_with_status(status, author) for author in (own, other) for status in PostStatus
    }
    actor = as_caller(own)

    found = {key for key, post in posts.items() if selectors.select_post_by_id(actor, str(post.pk)).exists()}
    listed = {(post.author_id, post.status) for post in selectors.select_newest_posts(actor).queryset()}
    by_state = {
        (post.author_id, post.status)
        for status in PostStatus
        for post in selectors.select_newest_posts(actor, status=status).queryset()
    }

    seen = {(own.pk, status) for status in own_seen} | {(other.pk, status) for status in others_seen}
    assert found == listed == by_state == seen


@pytest.mark.django_db
def test_posts_are_ordered_newest_first_then_by_id() -> None:
    old, new = datetime(2020, 1, 1, tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC)
    first, second, third = make_post(created_at=new), make_post(created_at=old), make_post(created_at=new)

    posts = selectors.select_newest_posts(ANONYMOUS).queryset()

    assert list(posts) == [third, first, second]


@pytest.mark.django_db
def test_largest_64_bit_id_finds_its_row() -> None:
    author = make_author(pk=2**63 - 1)
    post = make_post(pk=2**63 - 1, author=author)

    assert selectors.select_post_by_id(ANONYMOUS, str(2**63 - 1)).queryset().get() == post
    assert selectors.select_author_by_id(OPERATOR, str(2**63 - 1)).queryset().get() == author
