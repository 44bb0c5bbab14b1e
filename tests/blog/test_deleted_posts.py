"""Deleted posts: restoring one with its comments and source, and the names in its history."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from blog import services
from blog.history import versions
from blog.models import RENDERED, Comment, Post, PostSource, PostVersion
from blog.services import moderation
from contentapi.core.errors import Conflict, NotFound
from contentapi.core.identity import OPERATOR, Role
from contentapi.db.statements import execute
from tests.blog.post_deletions import TRANSACTIONS, delete, list_deleted, restore
from tests.blog.post_versions import get_name
from tests.blog.racing import race
from tests.factories import make_actor, make_author, make_comment, make_post

LATER = datetime(2100, 1, 1, tzinfo=UTC)


def read_rows(model: Any) -> list[dict[str, Any]]:
    return list(model.objects.order_by("pk").values())


def test_restored_post_is_equal_and_has_its_id_comments_and_source() -> None:
    post = make_post(title="Soup", body="Hot.", tags=["a"], status="published", published_at=timezone.now())
    for body in ("One", "Two"):
        make_comment(post, body=body)
    PostSource.objects.create(post=post, path="a.md", digest=b"1", authors=["Ines"], status="published")
    before, comments, sources = read_rows(Post)[0], read_rows(Comment), read_rows(PostSource)
    editor = make_actor(Role.EDITOR).through("admin")
    delete(post, editor)
    assert (Post.objects.count(), Comment.objects.count(), PostSource.objects.count()) == (0, 0, 0)

    restored = restore(post, editor)

    after = read_rows(Post)[0]
    assert (restored.pk, after["version"], after["changed_by"]) == (post.pk, 2, editor.user_id)
    changes = ("version", "updated_at", "changed_at", "changed_by", "changed_with", *RENDERED)
    assert after == before | {name: after[name] for name in changes}
    assert (after["rendered_version"], after["body_html"]) == (2, "<p>Hot.</p>\n")
    assert (read_rows(Comment), read_rows(PostSource)) == (comments, sources)


def test_history_names_the_person_who_deleted_and_the_person_who_restored() -> None:
    post, first, second = make_post(), make_actor(Role.EDITOR).through("admin"), make_actor(Role.ADMIN).through("REST")
    delete(post, first)
    restore(post, second)

    present, deleted = versions.list_versions(actor=OPERATOR, post_id=str(post.pk)).versions

    assert (present.number, present.changed_fields, present.deletion, present.is_restored) == (2, [], None, True)
    assert present.made.person == get_name(second)
    assert deleted.deletion is not None
    assert deleted.deletion.person == get_name(first)
    assert deleted.deletion.origin.startswith("admin")


@pytest.mark.parametrize("in_sql", [True, False])
@TRANSACTIONS
def test_deletion_in_the_database_names_nobody(*, in_sql: bool) -> None:
    post = make_post()
    delete(make_post(), make_actor(Role.EDITOR))  # another transaction of the same connection

    if in_sql:
        execute("DELETE FROM blog_post WHERE id = %s", [post.pk])
    else:
        Post.objects.filter(pk=post.pk).delete()

    newest = list_deleted()[0]
    deletion = newest["deletion"]
    assert (newest["id"], deletion.person, deletion.origin) == (post.pk, "", "database")


@TRANSACTIONS
def test_post_is_restored_in_the_state_of_its_last_deletion() -> None:
    post = make_post(title="One")
    delete(post)
    services.edit_post(actor=OPERATOR, post_id=str(restore(post).pk), changes={"title": "Two"})
    delete(post)

    assert [(deleted["id"], deleted["title"]) for deleted in list_deleted()] == [(post.pk, "Two")]
    assert (restore(post).title, Post.objects.get().version) == ("Two", 4)
    assert list_deleted() == []


@TRANSACTIONS
def test_comments_of_a_restored_post_have_the_states_that_they_had() -> None:
    post = make_post()
    make_comment(post, body="Good")
    bad, spam = make_comment(post, body="Bad"), make_comment(post, body="Spam")
    moderation.moderate_comment("hide", actor=OPERATOR, comment_id=str(bad.pk))
    services.delete_comment(actor=OPERATOR, comment_id=str(spam.pk))
    before = list(Comment.objects.order_by("pk").values())
    delete(post)
    [deleted] = list_deleted()

    restore(post)

    assert deleted["comments"] == 2, "the list counts what a moderator had not deleted"
    assert list(Comment.objects.order_by("pk").values()) == before
    assert {comment["state"] for comment in before} == {"visible", "hidden", "deleted"}


def test_comment_of_a_deleted_author_is_not_restored() -> None:
    post, troll = make_post(), make_author()
    make_comment(post, author=troll)
    kept = make_comment(post)
    delete(post)
    troll.delete()

    restore(post)

    assert Comment.objects.get() == kept


def test_source_of_a_file_that_was_imported_again_stays_with_the_new_post() -> None:
    old, new = make_post(), make_post()
    values = {"path": "a.md", "digest": b"1", "authors": [], "status": "published"}
    PostSource.objects.create(post=old, **values)
    delete(old)
    PostSource.objects.create(post=new, **values)

    restore(old)

    assert PostSource.objects.get().post == new


def test_post_scheduled_for_the_past_becomes_a_draft() -> None:
    past, future = make_post(status="scheduled", publish_at=LATER), make_post(status="scheduled", publish_at=LATER)
    delete(past)
    delete(future)
    PostVersion.objects.filter(id=past.pk).update(publish_at=timezone.now() - timedelta(minutes=1))

    assert (restore(past).status, Post.objects.get(pk=past.pk).publish_at) == ("draft", None)
    assert (restore(future).status, Post.objects.get(pk=future.pk).publish_at) == ("scheduled", LATER)


def test_post_created_in_the_future_is_restored_as_created_now() -> None:
    post = make_post()
    delete(post)
    PostVersion.objects.filter(id=post.pk).update(created_at=LATER)  # as an earlier import stored it

    restored = restore(post)

    assert restored.created_at == restored.updated_at <= timezone.now()


@TRANSACTIONS
def test_post_is_restored_once_by_two_concurrent_restores() -> None:
    post = make_post()
    make_comment(post)
    delete(post)

    def try_to_restore() -> str:
        try:
            return f"version {restore(post).version}"
        except (Conflict, NotFound) as error:
            return error.message

    results = race(
        lambda: list(PostVersion.objects.select_for_update().filter(id=post.pk)), try_to_restore, try_to_restore
    )

    assert sorted(results) == ["This post is not deleted.", "version 2"]
    assert (Post.objects.count(), Comment.objects.count()) == (1, 1)
