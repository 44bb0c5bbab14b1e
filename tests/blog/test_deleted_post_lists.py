"""Deleted posts: who sees and restores which of them, and the end of their history."""

from datetime import timedelta

import pytest
from django.utils import timezone

from blog import services
from blog.history import copies, trash, versions
from blog.models import DeletedComment, DeletedPostSource, Post, PostVersion
from contentapi.core.errors import Forbidden, NotFound, Unauthenticated
from contentapi.core.identity import ANONYMOUS, OPERATOR, ROLE_SCOPES, Actor, Role, Scope
from tests.blog.post_deletions import TRANSACTIONS, delete, list_deleted, restore
from tests.factories import make_actor, make_author, make_comment, make_post


def move_deletions(age: timedelta) -> None:
    """Make all deletions older by a time."""
    for model in (PostVersion, DeletedComment, DeletedPostSource):
        for row in model.objects.all():
            model.objects.filter(pk=row.pk).update(pgh_created_at=row.pgh_created_at - age)


@TRANSACTIONS
def test_list_has_the_last_deleted_post_first_with_its_comments() -> None:
    posts = [make_post(title=title, author=make_author(name="Ines")) for title in "abc"]
    make_comment(posts[1])
    for post in posts:
        delete(post)

    page, before = trash.list_deleted_posts(actor=OPERATOR, limit=2)
    rest, end = trash.list_deleted_posts(actor=OPERATOR, before=before, limit=2)
    shown = [(post["title"], post["author_name"], post["comments"]) for post in page]

    assert shown == [("c", "Ines", 0), ("b", "Ines", 1)]
    assert ([post["title"] for post in rest], end) == (["a"], None)
    assert page[0]["restorable_until"] == page[0]["deletion"].at + timedelta(days=30)


def list_titles(limit: int) -> list[list[str]]:
    """Return the titles of each page of the deleted posts."""
    pages: list[list[str]] = []
    before = None
    while not pages or before is not None:
        posts, before = trash.list_deleted_posts(actor=OPERATOR, before=before, limit=limit)
        pages.append([post["title"] for post in posts])
    return pages


def test_pages_have_each_post_of_one_deletion_once() -> None:
    for title in "abc":
        delete(make_post(title=title))  # in one transaction, so at one time

    first, second = list_titles(2)
    assert (len(first), sorted(first + second)) == (2, ["a", "b", "c"])


def test_time_of_the_deletion_decides_the_order_and_not_the_id() -> None:
    for title in "abc":
        delete(make_post(title=title))
    for hours, title in enumerate("bac"):
        PostVersion.objects.filter(title=title).update(pgh_created_at=timezone.now() - timedelta(hours=hours))

    assert list_titles(1) == [["b"], ["a"], ["c"]]


def test_author_sees_and_restores_their_own_deleted_posts_only() -> None:
    author = make_author()
    actor = make_actor(Role.AUTHOR, author=author)
    own, other = make_post(author=author), make_post()
    delete(own)
    delete(other)

    assert [post["id"] for post in list_deleted(actor)] == [own.pk]
    assert [v.number for v in versions.list_versions(actor=actor, post_id=str(own.pk)).versions] == [1]
    with pytest.raises(NotFound):
        restore(other, actor)
    assert restore(own, actor).pk == own.pk


def test_deleted_posts_need_a_credential_a_role_and_scopes() -> None:
    post = make_post(status="published")
    delete(post)
    writer = Actor(1, Role.EDITOR, ROLE_SCOPES[Role.EDITOR] - {Scope.POSTS_PUBLISH})

    with pytest.raises(Unauthenticated):
        list_deleted(ANONYMOUS)
    with pytest.raises(Unauthenticated):
        restore(post, ANONYMOUS)
    with pytest.raises(Forbidden):
        list_deleted(make_actor(Role.READER))
    with pytest.raises(NotFound):
        restore(post, make_actor(Role.READER))
    with pytest.raises(Forbidden):  # the restore of a published post publishes
        restore(post, writer)
    assert not Post.objects.exists()


def test_post_that_exists_cannot_be_restored_as_deleted() -> None:
    with pytest.raises(NotFound):
        restore(make_post())


def test_text_of_a_deleted_post_cannot_be_edited_by_restoring_a_version() -> None:
    post = make_post()
    delete(post)

    with pytest.raises(NotFound):
        copies.restore_text(actor=OPERATOR, post_id=str(post.pk), number=1, post_version=1, copy_version=0)


# The end of the history


def test_post_deleted_more_than_30_days_ago_cannot_be_restored() -> None:
    post = make_post()
    delete(post)
    move_deletions(timedelta(days=30, seconds=1))

    assert list_deleted() == []
    with pytest.raises(NotFound):
        restore(post)
    with pytest.raises(NotFound):
        versions.list_versions(actor=OPERATOR, post_id=str(post.pk))


@TRANSACTIONS
def test_purge_deletes_the_history_of_posts_deleted_long_ago_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trash, "ROWS_PER_STATEMENT", 2)  # several batches
    gone = [make_post() for _ in range(5)]
    for post in gone:
        services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"title": "New"})
        make_comment(post)
        delete(post)
    alive, moderated = make_post(), make_post()
    services.edit_post(actor=OPERATOR, post_id=str(alive.pk), changes={"title": "New"})
    services.delete_comment(actor=OPERATOR, comment_id=str(make_comment(moderated).pk))
    twice = make_post()
    delete(twice)
    restore(twice)
    back = make_post()
    delete(back)
    restore(back)
    move_deletions(timedelta(days=31))
    delete(twice)  # again, and recently
    recent = make_post()
    make_comment(recent)
    delete(recent)

    assert trash.purge_history(actor=OPERATOR) == 5
    assert trash.purge_history(actor=OPERATOR) == 0

    assert set(PostVersion.objects.values_list("id", flat=True)) == {alive.pk, twice.pk, back.pk, recent.pk}
    assert [comment.post_id for comment in DeletedComment.objects.all()] == [recent.pk]
    assert {post["id"] for post in list_deleted()} == {twice.pk, recent.pk}


def test_purge_needs_permission() -> None:
    with pytest.raises(Forbidden):
        trash.purge_history(actor=make_actor(Role.AUTHOR))
